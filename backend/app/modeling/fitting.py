"""Fit one candidate, judged by cross-validation: everything is learned inside each training fold."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from sklearn.dummy import DummyRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils._param_validation import InvalidParameterError
from threadpoolctl import ThreadpoolController
from xgboost import XGBClassifier
from xgboost.core import XGBoostError

from app.errors import InvalidInput
from app.modeling.candidates import candidate, make_estimator
from app.modeling.classes import AnyClasses
from app.modeling.encode import Encoder
from app.modeling.labels import labels_of, present_value
from app.modeling.plain import rounded
from app.modeling.problem import Problem
from app.modeling.recipe import RecipeJson, inputs_of, recipe_for
from app.modeling.scores import SCORES, Predicted, score_all
from app.modeling.split import Fold

# Found once, where this module is imported: a cell's walls hide the list of loaded libraries.
_THREADS = ThreadpoolController()


@dataclass(frozen=True)
class Spec:
    """A candidate to fit. `hyperparameters` override the estimator's defaults."""

    estimator: str
    hyperparameters: Mapping[str, Any] = field(default_factory=dict)
    recipe: RecipeJson = field(default_factory=list)
    seed: int = 0
    threads: int = 1
    row_share: float = 1.0
    """Share of the training rows that is learned from, to keep a time limit: the latest, or drawn at random."""


@dataclass(frozen=True)
class CrossValidated:
    """`output` and `fold` by position of row; `tested` marks rows that some fold judged."""

    truth: np.ndarray
    output: np.ndarray
    fold: np.ndarray
    fold_metrics: list[dict[str, float | None]]
    seconds: float

    @property
    def tested(self) -> np.ndarray:
        return self.fold >= 0

    def predicted(self, problem: Problem, threshold: float = 0.5) -> Predicted:
        rows = self.tested
        return Predicted(self.truth[rows], self.output[rows], problem.positive_index, threshold)

    def mean(self, metric: str) -> float | None:
        return _over_folds(self.fold_metrics, metric, np.mean)

    def summary(self) -> dict[str, dict[str, float | None]]:
        names = self.fold_metrics[0]
        return {
            name: {
                "mean": _over_folds(self.fold_metrics, name, np.mean),
                "std": _over_folds(self.fold_metrics, name, lambda scores: np.std(scores, ddof=1)),
            }
            for name in names
        }


def _over_folds(
    fold_metrics: list[dict[str, float | None]], name: str, statistic: Callable[[list[float]], Any]
) -> float | None:
    known = [score for metrics in fold_metrics if (score := metrics[name]) is not None]
    return rounded(float(statistic(known))) if len(known) > 1 else (known[0] if known else None)


def build(problem: Problem, spec: Spec) -> Pipeline:
    """An unfitted pipeline that takes raw rows."""
    estimator, style = make_estimator(
        spec.estimator, problem.kind, spec.hyperparameters, spec.seed, spec.threads
    )
    if problem.horizon and isinstance(estimator, DummyRegressor):
        estimator = DummyRegressor(strategy="constant", constant=0.0)  # persistence: nothing changes
    if isinstance(estimator, XGBClassifier):
        estimator = AnyClasses(estimator)
    return Pipeline(
        [
            ("recipe", recipe_for(problem, spec.recipe)),
            ("encode", Encoder(style)),
            ("estimator", estimator),
        ]
    )


def fit(frame: pd.DataFrame, problem: Problem, spec: Spec) -> Pipeline:
    """The pipeline fitted on every labelled row; all rows are its history."""
    labels = labels_of(frame, problem)
    return fit_rows(frame, labels, np.flatnonzero(labels.notna().to_numpy()), problem, spec)


def fit_rows(
    frame: pd.DataFrame, labels: pd.Series, rows: np.ndarray, problem: Problem, spec: Spec
) -> Pipeline:
    model = build(problem, spec)
    inputs = inputs_of(frame, problem)
    rows = _share_of(rows, problem, spec)
    y = labels.iloc[rows].to_numpy()
    start = present_value(inputs, problem)
    if start is not None:
        y = y - start.iloc[rows].to_numpy()
    try:
        with _THREADS.limit(limits=spec.threads):
            model.fit(inputs.iloc[rows], y.astype(int) if problem.is_classification else y)
    except (InvalidParameterError, XGBoostError) as error:
        said = str(error).strip().splitlines()[0]
        raise InvalidInput("bad_hyperparameter", f"{spec.estimator} does not take that: {said}") from error
    model.named_steps["recipe"].remember(inputs)
    return model


def _share_of(rows: np.ndarray, problem: Problem, spec: Spec) -> np.ndarray:
    if spec.row_share >= 1:
        return rows
    count = max(int(len(rows) * spec.row_share), min(len(rows), 500))
    if problem.time_column:
        return rows[-count:]
    return np.sort(np.random.default_rng(spec.seed).permutation(rows)[:count])


def output_of(model: Pipeline, inputs: pd.DataFrame, problem: Problem, threads: int = 1) -> np.ndarray:
    """Probabilities of every class of the problem (rows, classes), or numbers (rows,)."""
    with _THREADS.limit(limits=threads):
        if not problem.is_classification:
            said = np.asarray(model.predict(inputs), dtype="float64")
            start = present_value(inputs, problem)
            return said if start is None else said + start.to_numpy()
        known = model.predict_proba(inputs)
    output = np.zeros((len(inputs), len(problem.classes or ())))
    output[:, np.asarray(model.classes_, dtype=int)] = known  # a fold may lack a class
    return output


def cross_validate(
    frame: pd.DataFrame,
    problem: Problem,
    spec: Spec,
    made_folds: list[Fold],
    report: Callable[[float], None] = lambda fraction: None,
) -> CrossValidated:
    """Out-of-fold output and the metrics of each fold."""
    started = time.perf_counter()
    labels = labels_of(frame, problem)
    inputs = inputs_of(frame, problem)
    width = (len(frame), len(problem.classes or ())) if problem.is_classification else (len(frame),)
    output, place = np.full(width, np.nan), np.full(len(frame), -1)
    metrics = []
    for number, fold in enumerate(made_folds):
        model = fit_rows(frame, labels, fold.train, problem, spec)
        if fold.history is not None:
            model.named_steps["recipe"].remember(inputs.iloc[fold.history])
        output[fold.test] = output_of(model, inputs.iloc[fold.test], problem, spec.threads)
        place[fold.test] = number
        truth = labels.iloc[fold.test].to_numpy()
        metrics.append(score_all(Predicted(truth, output[fold.test], problem.positive_index), problem))
        report((number + 1) / (len(made_folds) + 1))
    return CrossValidated(labels.to_numpy(), output, place, metrics, time.perf_counter() - started)


def greater_is_better(problem: Problem) -> bool:
    return SCORES[problem.metric].greater_is_better


def name_of(spec: Spec, problem: Problem) -> str:
    return candidate(spec.estimator, problem.kind).name
