"""Judge a candidate by cross-validation: everything is learned inside each training fold."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from app.modeling.estimators.candidates import get_estimator_spec
from app.modeling.estimators.encoder import Encoder
from app.modeling.estimators.families.learner import Learner, Validation, best_common_position
from app.modeling.estimators.families.pace import Clock
from app.modeling.labels.labels import make_labels
from app.modeling.labels.split import Fold
from app.modeling.problem.custom_code import contains_code
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import select_inputs
from app.modeling.scoring.scores import Predicted, score_all
from app.modeling.table.json_values import round_significant
from app.modeling.training.ensemble.average import Model, average, predict_output
from app.modeling.training.fitting import (
    THREADS,
    Spec,
    add_present_value,
    build,
    difference_targets,
    fit,
    sample_weight_kwargs,
    share_of,
    translate_fit_errors,
)

MAX_JUDGED = 50_000
"""Rows of one fold that are judged: more of them say nothing new."""

LATEST = 2.0
"""Of its time, what a fit may take so that it learns as long as encoding took: else that was in vain."""


@dataclass(frozen=True)
class CrossValidated:
    """`output` and `fold` by position of row; `tested` marks rows that some fold judged.

    `fold_metrics`, `models` and `fold_s` by fold in `run`; `settings`: what was found while watching.
    """

    truth: np.ndarray
    output: np.ndarray
    fold: np.ndarray
    fold_metrics: list[dict[str, float | None]]
    seconds: float
    run: list[int] = field(default_factory=list)
    models: list[Pipeline] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    fold_s: list[float] = field(default_factory=list)

    @property
    def tested(self) -> np.ndarray:
        return self.fold >= 0

    def predicted(self, problem: Problem, threshold: float = 0.5) -> Predicted:
        rows = self.tested
        return Predicted(self.truth[rows], self.output[rows], problem.positive_index, threshold)

    def mean(self, metric: str) -> float | None:
        return over_folds(self.fold_metrics, metric, np.mean)

    def summary(self) -> dict[str, dict[str, float | None]]:
        return summary_of(self.fold_metrics)


def summary_of(fold_metrics: Sequence[Mapping[str, float | None]]) -> dict[str, dict[str, float | None]]:
    """metric -> mean and spread over folds; the spread of one fold is None."""
    return {
        name: {
            "mean": over_folds(fold_metrics, name, np.mean),
            "std": over_folds(fold_metrics, name, lambda scores: np.std(scores, ddof=1))
            if len(fold_metrics) > 1
            else None,
        }
        for name in (fold_metrics[0] if fold_metrics else ())
    }


def over_folds(
    fold_metrics: Sequence[Mapping[str, float | None]], name: str, statistic: Callable[[list[float]], Any]
) -> float | None:
    known = [score for metrics in fold_metrics if (score := metrics[name]) is not None]
    return round_significant(float(statistic(known))) if len(known) > 1 else (known[0] if known else None)


def cross_validate(
    frame: pd.DataFrame,
    problem: Problem,
    spec: Spec,
    made_folds: list[Fold],
    report: Callable[[float], None] = lambda fraction: None,
    run: Sequence[int] | None = None,
    seconds: float | None = None,
) -> CrossValidated:
    """Out-of-fold output and the metrics of each fold in `run` (all where None).

    `seconds`: how long that may take, for a candidate that learns by watching: it learns faster for less, and
    leaves out the last folds when even that does not do.
    """
    started, clock = time.perf_counter(), Clock(seconds, None if seconds is None else LATEST * seconds)
    labels, inputs = make_labels(frame, problem), select_inputs(frame, problem)
    places = list(range(len(made_folds))) if run is None else list(run)
    shared = not (problem.time_column or contains_code(spec.recipe))
    prepared = _prepared(inputs, labels, problem, spec) if shared else None
    taught: list[_Taught] = []
    for done, number in enumerate(places):
        if taught and clock.remaining_s is not None and clock.remaining_s < 0.8 * taught[-1].seconds:
            break
        fold, share = made_folds[number], None
        encoded = prepared or _prepared_for(fold, inputs, labels, problem, spec)
        if clock.remaining_s is not None:
            if not taught:
                clock.extend(clock.elapsed_s)
            share = Share(
                clock.remaining_s / (len(places) - done), clock.remaining_s * (0.7 if done == 0 else 1.0)
            )
        pace = taught[0].pace if taught else {}
        taught.append(_teach(inputs, labels, problem, spec, encoded, fold, number, pace, share))
        report((done + 1) / (len(places) + 1))
    settings = _settle(taught)
    return _judge(inputs, labels, problem, spec, taught, settings, time.perf_counter() - started)


@dataclass(frozen=True)
class Share:
    """Seconds that a fold has, and what it may take at most."""

    seconds: float
    at_most: float


@dataclass(frozen=True)
class _Encoded:
    """Recipe and encoder with what they make of rows: `matrix` holds those at the positions `rows`."""

    recipe: Any
    encoder: Encoder
    rows: np.ndarray
    matrix: Any

    def of(self, wanted: np.ndarray, inputs: pd.DataFrame) -> Any:
        """Encoded rows; those that were not encoded yet are now."""
        at = np.searchsorted(self.rows, wanted).clip(0, len(self.rows) - 1)
        if (self.rows[at] == wanted).all():
            return self.matrix.iloc[at] if isinstance(self.matrix, pd.DataFrame) else self.matrix[at]
        return self.encoder.transform(self.recipe.transform(inputs.iloc[wanted]))


def _prepared(
    inputs: pd.DataFrame, labels: pd.Series, problem: Problem, spec: Spec, rows: np.ndarray | None = None
) -> _Encoded:
    """Recipe and encoder, which never see a label, learned from these rows: all labelled training rows.

    So that folds and families share them, and a model that averages all of those encodes a row once. In time
    order each fold has its own: there later rows would tell earlier ones of the future. So has each fold whose
    recipe holds written code, which may look at labels.
    """
    if rows is None:
        rows = np.sort(share_of(np.flatnonzero(labels.notna().to_numpy()), problem, spec))
    model = build(problem, spec)
    recipe, encoder = model.named_steps["recipe"], model.named_steps["encode"]
    y = difference_targets(inputs, labels, rows, problem) if contains_code(spec.recipe) else None
    matrix = encoder.fit_transform(recipe.fit_transform(inputs.iloc[rows], y))
    return _Encoded(recipe, encoder, rows, matrix)


def _prepared_for(
    fold: Fold, inputs: pd.DataFrame, labels: pd.Series, problem: Problem, spec: Spec
) -> _Encoded:
    made = _prepared(inputs, labels, problem, spec, share_of(fold.train, problem, spec))
    if fold.history is not None:
        made.recipe.store_history(inputs.iloc[fold.history])
    return made


@dataclass
class _Taught:
    """A fold's model with the rows that it is judged by, already encoded."""

    number: int
    model: Pipeline
    rows: np.ndarray
    inputs: pd.DataFrame
    matrix: Any
    seconds: float

    @property
    def estimator(self) -> Any:
        return self.model.named_steps["estimator"]

    @property
    def pace(self) -> dict[str, Any]:
        return self.estimator.shared_settings_ if isinstance(self.estimator, Learner) else {}


def _teach(
    inputs: pd.DataFrame,
    labels: pd.Series,
    problem: Problem,
    spec: Spec,
    encoded: _Encoded,
    fold: Fold,
    number: int,
    pace: Mapping[str, Any],
    share: Share | None,
) -> _Taught:
    started = time.perf_counter()
    watching = watches(problem, spec)
    given = {**spec.hyperparameters, **(pace if watching else {})}
    estimator = build(problem, replace(spec, hyperparameters=given)).named_steps["estimator"]
    rows = fold.train if problem.time_column is None else share_of(fold.train, problem, spec)
    rows = np.intersect1d(rows, encoded.rows, assume_unique=True)
    judged = judged_rows(fold.test, number)
    matrix, asked = encoded.of(rows, inputs), encoded.of(judged, inputs)
    y = difference_targets(inputs, labels, rows, problem)
    weights = sample_weight_kwargs(estimator, inputs, problem, rows)
    with THREADS.limit(limits=spec.threads), translate_fit_errors(spec):
        if watching:
            spent = time.perf_counter() - started
            seconds = (None, None) if share is None else (0.9 * share.seconds - spent, share.at_most - spent)
            watch = Validation(asked, difference_targets(inputs, labels, judged, problem), *seconds)
            estimator.fit(matrix, y, watch, **weights)
        else:
            estimator.fit(matrix, y, **weights)
    parts = [("recipe", encoded.recipe), ("encode", encoded.encoder), ("estimator", estimator)]
    took = time.perf_counter() - started
    return _Taught(number, Pipeline(parts), judged, inputs.iloc[judged], asked, took)


def watches(problem: Problem, spec: Spec) -> bool:
    return get_estimator_spec(spec.estimator, problem.kind).is_self_tuning and not spec.settings


def judged_rows(test: np.ndarray, number: int) -> np.ndarray:
    """The rows that a fold is judged by, the same for every candidate."""
    if len(test) <= MAX_JUDGED:
        return test
    return np.sort(np.random.default_rng(number).permutation(test)[:MAX_JUDGED])


def _settle(taught: list[_Taught]) -> dict[str, Any]:
    """One position for all folds that watched, and the settings that lead there."""
    learners: list[Learner] = [one.estimator for one in taught if len(getattr(one.estimator, "curve_", ()))]
    if not learners:
        return {}
    position = best_common_position([learner.curve_ for learner in learners])
    for learner in learners:
        learner.select_position(position)
    return learners[0].settings_


def _judge(
    inputs: pd.DataFrame,
    labels: pd.Series,
    problem: Problem,
    spec: Spec,
    taught: list[_Taught],
    settings: dict[str, Any],
    seconds: float,
) -> CrossValidated:
    classes = len(problem.classes or ())
    output = np.full((len(labels), classes) if classes else (len(labels),), np.nan)
    place = np.full(len(labels), -1)
    metrics = []
    for one in taught:
        with THREADS.limit(limits=spec.threads):
            said = predict_output(one.estimator, one.matrix, classes)
        output[one.rows] = add_present_value(said, one.inputs, problem)
        place[one.rows] = one.number
        truth = labels.iloc[one.rows].to_numpy()
        metrics.append(score_all(Predicted(truth, output[one.rows], problem.positive_index), problem))
        one.model.named_steps["recipe"].store_history(inputs)
    return CrossValidated(
        labels.to_numpy(),
        output,
        place,
        metrics,
        seconds,
        [one.number for one in taught],
        [one.model for one in taught],
        settings,
        [round(one.seconds, 3) for one in taught],
    )


def final_model(
    frame: pd.DataFrame, problem: Problem, spec: Spec, judged: CrossValidated, made_folds: list[Fold]
) -> Model:
    """What is kept of a cross-validated candidate.

    The average of its fold models where it learned by watching; else, and in time order, a fit on all rows once
    every fold was run, and until then the average, or the model of the latest fold.
    """
    bagged = get_estimator_spec(spec.estimator, problem.kind).is_self_tuning and not problem.time_column
    if not bagged and len(judged.run) == len(made_folds):
        return fit(frame, problem, replace(spec, settings={**spec.settings, **judged.settings}))
    if problem.time_column:
        return judged.models[int(np.argmax(judged.run))]
    return average([(model, 1.0) for model in judged.models], problem)
