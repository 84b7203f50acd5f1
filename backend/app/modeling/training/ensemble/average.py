"""The weighted average of fitted pipelines, as one scikit-learn estimator that takes raw rows."""

from collections.abc import Sequence
from typing import Any, Self, TypeAlias

import joblib
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.pipeline import Pipeline

from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import Recipe

STEPS = ("recipe", "encode", "estimator")


class _Average(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """`members`: fitted pipelines of recipe, encode and estimator; `weights` sum to 1.

    Members that share a recipe or an encoder hold the same object: it is applied, and stored, once.
    """

    def __init__(self, members: Sequence[Pipeline], weights: Sequence[float], classes: int = 0) -> None:
        self.members = members
        self.weights = weights
        self.classes = classes

    def fit(self, X: object = None, y: object = None) -> Self:
        """Its members are fitted already."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def _said(self, X: pd.DataFrame) -> np.ndarray:
        width = (len(X), self.classes) if self.classes else (len(X),)
        total = np.zeros(width)
        for recipe, by_encoder in self._shared():
            features = recipe.transform(X)
            for encoder, voices in by_encoder:
                matrix = encoder.transform(features)
                for estimator, weight in voices:
                    total += weight * predict_output(estimator, matrix, self.classes)
        return total

    def _shared(self) -> list[tuple[Recipe, list[tuple[Any, list[tuple[Any, float]]]]]]:
        tree: dict[int, tuple[Recipe, dict[int, tuple[Any, list[tuple[Any, float]]]]]] = {}
        for member, weight in zip(self.members, self.weights, strict=True):
            recipe, encoder, estimator = (
                member.named_steps[name] for name in ("recipe", "encode", "estimator")
            )
            _, by_encoder = tree.setdefault(id(recipe), (recipe, {}))
            by_encoder.setdefault(id(encoder), (encoder, []))[1].append((estimator, float(weight)))
        return [(recipe, list(by_encoder.values())) for recipe, by_encoder in tree.values()]


class AveragedClassifier(ClassifierMixin, _Average):  # type: ignore[misc]
    """Says probabilities of class places 0 to `classes` - 1."""

    @property
    def classes_(self) -> np.ndarray:
        return np.arange(self.classes)

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        return self._said(X)

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        chosen: np.ndarray = self._said(X).argmax(axis=1)
        return chosen


class AveragedRegressor(RegressorMixin, _Average):  # type: ignore[misc]
    """Says numbers."""

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return self._said(X)


Model: TypeAlias = Pipeline | AveragedClassifier | AveragedRegressor


def predict_output(estimator: Any, matrix: Any, classes: int) -> np.ndarray:
    """Probabilities (rows, classes), zero for a class that did not teach it, or numbers (rows,)."""
    if not classes:
        return np.asarray(estimator.predict(matrix), dtype="float64")
    known = estimator.predict_proba(matrix)
    if known.shape[1] == classes:
        return np.asarray(known, dtype="float64")
    output = np.zeros((known.shape[0], classes))
    output[:, np.asarray(estimator.classes_, dtype=int)] = known
    return output


def average(models: Sequence[tuple[Model, float]], problem: Problem) -> Model:
    """One model that says the weighted average; averages among the models are taken apart first."""
    members: list[tuple[Pipeline, float]] = []
    for model, weight in models:
        inner = (
            [(model, 1.0)]
            if isinstance(model, Pipeline)
            else list(zip(model.members, model.weights, strict=True))
        )
        members += [(member, weight * share) for member, share in inner]
    if len(members) == 1:
        return members[0][0]
    total = sum(weight for _, weight in members)
    made = AveragedClassifier if problem.is_classification else AveragedRegressor
    shared = _share_parts([member for member, _ in members])
    return made(shared, [weight / total for _, weight in members], len(problem.classes or ()))


def members_of(model: Model) -> list[Pipeline]:
    return [model] if isinstance(model, Pipeline) else list(model.members)


def recipes_of(model: Model) -> list[Recipe]:
    """The recipes of all members, each once."""
    found: list[Recipe] = [member.named_steps["recipe"] for member in members_of(model)]
    return list({id(recipe): recipe for recipe in found}.values())


def recipe_of(model: Model) -> Recipe:
    """The recipe of a model; of its first member where there are many, which look back alike."""
    recipe: Recipe = members_of(model)[0].named_steps["recipe"]
    return recipe


def features_of(model: Model) -> int:
    """How many numbers the estimator takes; the most where there are many."""
    return max(len(member.named_steps["encode"].get_feature_names_out()) for member in members_of(model))


def _share_parts(members: list[Pipeline]) -> list[Pipeline]:
    """The same pipelines, with one object for all recipes and encoders that are equal."""
    known: dict[str, Any] = {}

    def one(part: Any) -> Any:
        return known.setdefault(joblib.hash(part), part)

    return [
        Pipeline(
            [
                ("recipe", one(member.named_steps["recipe"])),
                ("encode", one(member.named_steps["encode"])),
                ("estimator", member.named_steps["estimator"]),
            ]
        )
        for member in members
    ]
