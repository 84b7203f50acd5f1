"""Weighted averages of fitted pipelines, and pairs of models for known and new entities, as one scikit-learn
estimator that takes raw rows."""

from collections.abc import Sequence
from typing import Any, Self, TypeAlias

import joblib
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.pipeline import Pipeline

from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import Recipe
from app.modeling.recipe.transforms.columns import to_category_text

STEPS = ("recipe", "encode", "estimator")


class _Prefitted(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator made of fitted ones. `classes`: number of classes, 0 for numbers."""

    classes: int

    def fit(self, X: object = None, y: object = None) -> Self:
        """Return the estimator unchanged, since what it is made of is fitted already."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def _predict(self, X: pd.DataFrame) -> np.ndarray:
        """Return probabilities (rows, classes), or numbers (rows,)."""
        raise NotImplementedError


class _Classifying(ClassifierMixin, _Prefitted):  # type: ignore[misc]
    """Predicts probabilities of the class indices 0 to `classes` - 1."""

    @property
    def classes_(self) -> np.ndarray:
        return np.arange(self.classes)

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        return self._predict(X)

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        class_indices: np.ndarray = self._predict(X).argmax(axis=1)
        return class_indices


class _Regressing(RegressorMixin, _Prefitted):  # type: ignore[misc]
    """Predicts numbers."""

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return self._predict(X)


class _Average(_Prefitted):
    """`members`: fitted pipelines of recipe, encode and estimator; `weights` sum to 1.

    Members that share a recipe or an encoder hold the same object: it is applied, and stored, once.
    """

    def __init__(self, members: Sequence[Pipeline], weights: Sequence[float], classes: int = 0) -> None:
        self.members = members
        self.weights = weights
        self.classes = classes

    def _predict(self, X: pd.DataFrame) -> np.ndarray:
        shape = (len(X), self.classes) if self.classes else (len(X),)
        total = np.zeros(shape)
        for recipe, by_encoder in self._group_members():
            features = recipe.transform(X)
            for encoder, estimators in by_encoder:
                matrix = encoder.transform(features)
                for estimator, weight in estimators:
                    total += weight * predict_output(estimator, matrix, self.classes)
        return total

    def _group_members(self) -> list[tuple[Recipe, list[tuple[Any, list[tuple[Any, float]]]]]]:
        """Group the members by recipe and encoder objects, so that each is applied once."""
        tree: dict[int, tuple[Recipe, dict[int, tuple[Any, list[tuple[Any, float]]]]]] = {}
        for member, weight in zip(self.members, self.weights, strict=True):
            recipe, encoder, estimator = (
                member.named_steps[name] for name in ("recipe", "encode", "estimator")
            )
            _, by_encoder = tree.setdefault(id(recipe), (recipe, {}))
            by_encoder.setdefault(id(encoder), (encoder, []))[1].append((estimator, float(weight)))
        return [(recipe, list(by_encoder.values())) for recipe, by_encoder in tree.values()]


class AveragedClassifier(_Classifying, _Average):
    """Average of classifiers: probabilities of the class indices 0 to `classes` - 1."""


class AveragedRegressor(_Regressing, _Average):
    """Average of regressors."""


class _ByEntity(_Prefitted):
    """Two fitted models: `entity_model` reads the entity's column and predicts rows of entities with training
    rows, `general_model` does not read it and predicts all others.

    `columns` tell entities apart; `entities` (entities,): sorted hashes of those with training rows.
    """

    def __init__(
        self,
        entity_model: "FittedModel",
        general_model: "FittedModel",
        columns: Sequence[str],
        entities: np.ndarray,
        classes: int = 0,
    ) -> None:
        self.entity_model = entity_model
        self.general_model = general_model
        self.columns = columns
        self.entities = entities
        self.classes = classes

    @property
    def members(self) -> list[Pipeline]:
        return [*list_members(self.general_model), *list_members(self.entity_model)]

    @property
    def weights(self) -> list[float]:
        """Weights of the members for rows of new entities."""
        return [*_list_weights(self.general_model), *(0.0 for _ in list_members(self.entity_model))]

    def _predict(self, X: pd.DataFrame) -> np.ndarray:
        is_known = np.isin(hash_entities(X, self.columns), self.entities)
        output = np.zeros((len(X), self.classes) if self.classes else len(X))
        # Models are asked for rows alone that they have: most refuse an empty table.
        for model, rows in ((self.entity_model, is_known), (self.general_model, ~is_known)):
            if rows.any():
                output[rows] = predict_output(model, X.loc[rows], self.classes)
        return output


class ByEntityClassifier(_Classifying, _ByEntity):
    """Classifiers for known and new entities: probabilities of the class indices 0 to `classes` - 1."""


class ByEntityRegressor(_Regressing, _ByEntity):
    """Regressors for known and new entities."""


FittedModel: TypeAlias = Pipeline | AveragedClassifier | AveragedRegressor
Model: TypeAlias = FittedModel | ByEntityClassifier | ByEntityRegressor


def hash_entities(rows: pd.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """Hash the entity of each row (rows,), the same for a number with and without a decimal point.

    A row without one of the columns, or without its value, has a hash that no entity has: 0.
    """
    if any(name not in rows for name in columns):
        return np.zeros(len(rows), dtype="uint64")
    texts = pd.DataFrame({name: to_category_text(rows[name]) for name in columns})
    hashes = pd.util.hash_pandas_object(texts.astype(object), index=False).to_numpy()
    return np.where(texts.notna().all(axis=1), hashes, np.uint64(0))


def route_by_entity(
    entity_model: FittedModel, general_model: FittedModel, rows: pd.DataFrame, problem: Problem
) -> Model:
    """Join two models for rows of the entities of the training `rows`, and for all others."""
    entities = np.unique(hash_entities(rows, problem.group_columns))
    by_entity = ByEntityClassifier if problem.is_classification else ByEntityRegressor
    classes = len(problem.classes or ())
    return by_entity(entity_model, general_model, list(problem.group_columns), entities[entities > 0], classes)


def _list_weights(model: FittedModel) -> list[float]:
    return [1.0] if isinstance(model, Pipeline) else [float(weight) for weight in model.weights]


def predict_output(estimator: Any, matrix: Any, classes: int) -> np.ndarray:
    """Predict probabilities (rows, classes), zero for a class missing in training, or numbers (rows,)."""
    if not classes:
        return np.asarray(estimator.predict(matrix), dtype="float64")
    probabilities = estimator.predict_proba(matrix)
    if probabilities.shape[1] == classes:
        return np.asarray(probabilities, dtype="float64")
    output = np.zeros((probabilities.shape[0], classes))
    # A fold may lack a class, and then its model has fewer columns.
    output[:, np.asarray(estimator.classes_, dtype=int)] = probabilities
    return output


def average_models(models: Sequence[tuple[FittedModel, float]], problem: Problem) -> FittedModel:
    """Average models by weight into one model; averages among them are replaced by their members."""
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
    averaged = AveragedClassifier if problem.is_classification else AveragedRegressor
    shared = _share_parts([member for member, _ in members])
    return averaged(shared, [weight / total for _, weight in members], len(problem.classes or ()))


def list_members(model: Model) -> list[Pipeline]:
    return [model] if isinstance(model, Pipeline) else list(model.members)


def list_recipes(model: Model) -> list[Recipe]:
    """List the recipes of all members, each once."""
    recipes: list[Recipe] = [member.named_steps["recipe"] for member in list_members(model)]
    return list({id(recipe): recipe for recipe in recipes}.values())


def first_recipe(model: Model) -> Recipe:
    """Return the recipe of a model; that of its first member if there are several, which all need the same
    history."""
    recipe: Recipe = list_members(model)[0].named_steps["recipe"]
    return recipe


def count_features(model: Model) -> int:
    """Count the features that the estimator takes; the largest count of several members."""
    return max(len(member.named_steps["encode"].get_feature_names_out()) for member in list_members(model))


def _share_parts(members: list[Pipeline]) -> list[Pipeline]:
    """The same pipelines, with one object for all recipes and encoders that are equal."""
    unique: dict[str, Any] = {}

    def deduplicate(part: Any) -> Any:
        # Parts come from jobs of their own, each with its copy: equal ones are known by their content alone.
        return unique.setdefault(joblib.hash(part), part)

    return [
        Pipeline(
            [
                ("recipe", deduplicate(member.named_steps["recipe"])),
                ("encode", deduplicate(member.named_steps["encode"])),
                ("estimator", member.named_steps["estimator"]),
            ]
        )
        for member in members
    ]
