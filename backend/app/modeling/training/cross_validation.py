"""Cross-validation of candidates: everything is learned inside each training fold."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from app.modeling.estimators.encoder import Encoder
from app.modeling.estimators.estimator_catalog import get_estimator_spec
from app.modeling.estimators.families.boosting_schedule import Clock
from app.modeling.estimators.families.learner import Learner, TooManyRows, Validation, best_common_position
from app.modeling.facts.code_in_facts import contains_code
from app.modeling.problem.problem import Problem
from app.modeling.scoring.scores import Predicted, score_all
from app.modeling.scoring.thresholds import cross_fit_thresholds
from app.modeling.splits.split import Fold
from app.modeling.table.json_values import round_significant
from app.modeling.training.ensemble.average import Model, average_models, predict_output
from app.modeling.training.fitting import (
    THREADS,
    CandidateSpec,
    add_present_value,
    build_pipeline,
    fit,
    sample_rows,
    sample_weight_kwargs,
    translate_fit_errors,
)
from app.modeling.training.training_set import TrainingSet

MAX_TEST_ROWS = 50_000
"""Test rows of one fold that are scored: with more, the score changes by less than folds differ."""

MAX_OVERTIME = 2.0
"""A fit may exceed its time share by this factor, so that training gets at least as long as encoding."""


@dataclass(frozen=True)
class CrossValidated:
    """Out-of-fold predictions of a candidate.

    `output` and `fold` by row position; `tested` marks rows that were in a test fold. `fold_metrics`, `models`
    and `fold_s` by fold in `run`; `settings`: hyperparameters found by early stopping.
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
    row_share: float = 1.0
    """Share of the rows that the fits learned from, to finish in their time."""
    is_cut: bool = False
    """True if the time of a fold ended while its loss still fell."""

    @property
    def tested(self) -> np.ndarray:
        return self.fold >= 0

    def predicted(self, problem: Problem, threshold: float = 0.5) -> Predicted:
        rows = self.tested
        return Predicted(self.truth[rows], self.output[rows], problem.positive_index, threshold)

    def mean(self, metric: str) -> float | None:
        return aggregate_folds(self.fold_metrics, metric, np.mean)

    def std(self, metric: str) -> float | None:
        """The standard deviation over folds; None for a single fold."""
        return (
            aggregate_folds(self.fold_metrics, metric, sample_deviation) if len(self.fold_metrics) > 1 else None
        )

    def summary(self) -> dict[str, dict[str, float | None]]:
        return summarize_folds(self.fold_metrics)


def summarize_folds(fold_metrics: Sequence[Mapping[str, float | None]]) -> dict[str, dict[str, float | None]]:
    """Mean and standard deviation over folds of each metric; the deviation of a single fold is None."""
    return {
        name: {
            "mean": aggregate_folds(fold_metrics, name, np.mean),
            "std": aggregate_folds(fold_metrics, name, sample_deviation) if len(fold_metrics) > 1 else None,
        }
        for name in (fold_metrics[0] if fold_metrics else ())
    }


def sample_deviation(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1))


def aggregate_folds(
    fold_metrics: Sequence[Mapping[str, float | None]], name: str, statistic: Callable[[list[float]], Any]
) -> float | None:
    """Apply `statistic` to a metric's defined scores; a single score is returned as it is, none as None."""
    scores = [value for metrics in fold_metrics if (value := metrics[name]) is not None]
    return round_significant(float(statistic(scores))) if len(scores) > 1 else (scores[0] if scores else None)


def cross_validate(
    data: TrainingSet,
    spec: CandidateSpec,
    report: Callable[[float], None] = lambda fraction: None,
    run: Sequence[int] | None = None,
    seconds: float | None = None,
    may_reduce: bool = True,
) -> CrossValidated:
    """Fit and score a candidate on each fold in `run` (all if None).

    `seconds`: the time limit of a candidate with early stopping: it trains faster for less, and the last folds
    are left out if that does not suffice. `may_reduce`: whether a first fold that cannot finish learns from
    fewer rows, and the others with it.
    """
    started, clock = time.perf_counter(), Clock(seconds, None if seconds is None else MAX_OVERTIME * seconds)
    fold_numbers = list(range(len(data.folds))) if run is None else list(run)
    shared = not (data.problem.time_column or contains_code(spec.recipe))
    prepared = _fit_encoding(data, spec) if shared else None
    fitted: list[_FittedFold] = []
    for done, number in enumerate(fold_numbers):
        # Fewer folds that are learned well tell more than folds that are cut short.
        if fitted and clock.remaining_s is not None and clock.remaining_s < 0.8 * fitted[-1].seconds:
            break
        time_share = None
        encoded = prepared or _fit_fold_encoding(data, spec, data.folds[number])
        if clock.remaining_s is not None:
            if not fitted:
                # Learning for less time than encoding took would waste what encoding cost.
                clock.extend(clock.elapsed_s)
            time_share = FoldTime(
                clock.remaining_s / (len(fold_numbers) - done), clock.remaining_s * (0.7 if done == 0 else 1.0)
            )
        # At one pace, so that a number of rounds means the same in each fold and one stopping point serves all.
        pace = fitted[0].pace if fitted else {}
        try:
            fitted.append(_fit_fold(data, spec, encoded, number, pace, time_share, may_reduce and not fitted))
        except TooManyRows as excess:
            # Drawn as `settings` draw them, so that the same model comes out of a fit without a clock.
            spec = replace(spec, row_share=float(f"{spec.row_share * excess.share:.2g}"))
            prepared = _fit_encoding(data, spec) if shared else None
            encoded = prepared or _fit_fold_encoding(data, spec, data.folds[number])
            fitted.append(_fit_fold(data, spec, encoded, number, pace, time_share))
        report((done + 1) / (len(fold_numbers) + 1))
    settings = _choose_stopping_point(fitted)
    return _score_folds(data, spec, fitted, settings, time.perf_counter() - started)


@dataclass(frozen=True)
class FoldTime:
    """The seconds that a fold should take, and may take at most."""

    seconds: float
    max_seconds: float


@dataclass(frozen=True)
class _EncodedRows:
    """A fitted recipe and encoder with their output: `matrix` holds the rows at positions `rows`."""

    recipe: Any
    encoder: Encoder
    rows: np.ndarray
    matrix: Any

    def encode(self, positions: np.ndarray, inputs: pd.DataFrame, context: np.ndarray | None = None) -> Any:
        """Return the encoded rows at these positions; rows that are not in `matrix` are encoded now.

        `context`: positions of these rows and of those among them that their lags reach into.
        """
        at = np.searchsorted(self.rows, positions).clip(0, len(self.rows) - 1)
        if (self.rows[at] == positions).all():
            return self.matrix.iloc[at] if isinstance(self.matrix, pd.DataFrame) else self.matrix[at]
        if context is None or len(context) == len(positions):
            return self.encoder.transform(self.recipe.transform(inputs.iloc[positions]))
        features, order = self.recipe.transform(inputs.iloc[context]), np.argsort(context)
        return self.encoder.transform(features.iloc[order[np.searchsorted(context[order], positions)]])


def _fit_encoding(data: TrainingSet, spec: CandidateSpec, rows: np.ndarray | None = None) -> _EncodedRows:
    """Fit recipe and encoder, which never see a label, on these rows: by default all labelled training rows.

    Folds and families then share them, and an average of such models encodes a row once. In time order each
    fold has its own, because later rows would reveal the future to earlier ones. So does each fold whose recipe
    holds custom code, which may use labels.
    """
    if rows is None:
        rows = np.sort(sample_rows(data.labelled_rows, data.problem, spec))
    model = build_pipeline(data.problem, spec)
    recipe, encoder = model.named_steps["recipe"], model.named_steps["encode"]
    y = data.select_targets(rows) if contains_code(spec.recipe) else None
    matrix = encoder.fit_transform(recipe.fit_transform(data.inputs.iloc[rows], y))
    return _EncodedRows(recipe, encoder, rows, matrix)


def _fit_fold_encoding(data: TrainingSet, spec: CandidateSpec, fold: Fold) -> _EncodedRows:
    encoded = _fit_encoding(data, spec, sample_rows(fold.train, data.problem, spec))
    if fold.history is not None:
        encoded.recipe.store_history(data.inputs.iloc[fold.history])
    return encoded


@dataclass
class _FittedFold:
    """A fold's model with its test rows, already encoded."""

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


def _fit_fold(
    data: TrainingSet,
    spec: CandidateSpec,
    encoding: _EncodedRows,
    number: int,
    pace: Mapping[str, Any],
    time_share: FoldTime | None,
    may_reduce: bool = False,
) -> _FittedFold:
    """Fit an estimator on the fold's encoded training rows, with early stopping if its family supports it.

    Raises TooManyRows if it cannot finish in its time and `may_reduce`.
    """
    started = time.perf_counter()
    inputs, problem, fold = data.inputs, data.problem, data.folds[number]
    early_stopping = uses_early_stopping(problem, spec)
    keeps_time = get_estimator_spec(spec.estimator, problem.kind).keeps_time and time_share is not None
    hyperparameters = {**spec.hyperparameters, **(pace if early_stopping else {})}
    estimator = build_pipeline(problem, replace(spec, hyperparameters=hyperparameters)).named_steps["estimator"]
    # Without a time order the shared encoding holds the drawn rows already.
    rows = fold.train if problem.time_column is None else sample_rows(fold.train, problem, spec)
    rows = np.intersect1d(rows, encoding.rows, assume_unique=True)
    test_rows = select_test_rows(fold.test, number)
    # With all test rows: lags of the scored ones would else skip those that are left out.
    context = fold.test if problem.time_column else None
    matrix, test_matrix = encoding.encode(rows, inputs), encoding.encode(test_rows, inputs, context)
    y = data.select_targets(rows)
    weights = sample_weight_kwargs(estimator, data, rows)
    with THREADS.limit(limits=spec.threads), translate_fit_errors(spec):
        if early_stopping or keeps_time:
            encoding_s = time.perf_counter() - started
            limits = (
                (None, None)
                if time_share is None
                else (0.9 * time_share.seconds - encoding_s, time_share.max_seconds - encoding_s)
            )
            monitor = Validation(test_matrix, data.select_targets(test_rows), limits[0], limits[1], may_reduce)
            estimator.fit(matrix, y, monitor, **weights)
        else:
            estimator.fit(matrix, y, **weights)
    parts = [("recipe", encoding.recipe), ("encode", encoding.encoder), ("estimator", estimator)]
    fit_s = time.perf_counter() - started
    return _FittedFold(number, Pipeline(parts), test_rows, inputs.iloc[test_rows], test_matrix, fit_s)


def uses_early_stopping(problem: Problem, spec: CandidateSpec) -> bool:
    return get_estimator_spec(spec.estimator, problem.kind).is_self_tuning and not spec.settings


def select_test_rows(test: np.ndarray, number: int) -> np.ndarray:
    """Select the test rows that a fold is scored on, the same for every candidate."""
    if len(test) <= MAX_TEST_ROWS:
        return test
    return np.sort(np.random.default_rng(number).permutation(test)[:MAX_TEST_ROWS])


def _choose_stopping_point(fitted: list[_FittedFold]) -> dict[str, Any]:
    """Choose one stopping point for all folds with early stopping; return the settings that lead to it."""
    learners: list[Learner] = [fold.estimator for fold in fitted if len(getattr(fold.estimator, "curve_", ()))]
    if not learners:
        return {}
    position = best_common_position([learner.curve_ for learner in learners])
    for learner in learners:
        learner.select_position(position)
    return learners[0].settings_


def _score_folds(
    data: TrainingSet,
    spec: CandidateSpec,
    fitted: list[_FittedFold],
    settings: dict[str, Any],
    seconds: float,
) -> CrossValidated:
    """Predict and score the test rows of each fold."""
    labels, problem = data.labels, data.problem
    classes = len(problem.classes or ())
    output = np.full((len(labels), classes) if classes else (len(labels),), np.nan)
    fold_of_row = np.full(len(labels), -1)
    learners = [fold.estimator for fold in fitted if isinstance(fold.estimator, Learner)]
    for fold in fitted:
        with THREADS.limit(limits=spec.threads):
            predictions = predict_output(fold.estimator, fold.matrix, classes)
        output[fold.rows] = add_present_value(predictions, fold.inputs, problem)
        fold_of_row[fold.rows] = fold.number
        # After its fold is scored a model only meets new rows, and these follow all of the training rows.
        fold.model.named_steps["recipe"].store_history(data.inputs)
    truth, is_tested = labels.to_numpy(), fold_of_row >= 0
    by_fold = score_by_fold(truth[is_tested], output[is_tested], fold_of_row[is_tested], problem)
    return CrossValidated(
        truth,
        output,
        fold_of_row,
        [by_fold[fold.number] for fold in fitted],
        seconds,
        [fold.number for fold in fitted],
        [fold.model for fold in fitted],
        settings,
        [round(fold.seconds, 3) for fold in fitted],
        spec.row_share,
        any(learner.is_cut_ for learner in learners),
    )


def score_by_fold(
    truth: np.ndarray, output: np.ndarray, fold: np.ndarray, problem: Problem
) -> dict[int, dict[str, float | None]]:
    """Compute every metric on each fold among these rows."""
    predicted = cross_fit_thresholds(problem, truth, output, fold)
    return {
        int(number): score_all(predicted.take(np.flatnonzero(fold == number)), problem)
        for number in np.unique(fold)
    }


def final_model(data: TrainingSet, spec: CandidateSpec, validated: CrossValidated) -> Model:
    """Make the model to keep of a cross-validated candidate.

    The average of its fold models if it learned with early stopping; otherwise, and in time order, a fit on all
    rows once every fold was run, and until then the average, or the model of the latest fold.
    """
    problem = data.problem
    averages = get_estimator_spec(spec.estimator, problem.kind).is_self_tuning and not problem.time_column
    if not averages and len(validated.run) == len(data.folds):
        return fit(data, replace(spec, settings={**spec.settings, **validated.settings}))
    if problem.time_column:
        return validated.models[int(np.argmax(validated.run))]
    return average_models([(model, 1.0) for model in validated.models], problem)
