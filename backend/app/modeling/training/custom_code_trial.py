"""Trials of custom code on training rows before it is used, so that it fails early."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypedDict

import numpy as np
import pandas as pd

from app.errors import InvalidInput
from app.modeling.problem.problem import Problem
from app.modeling.recipe.custom_feature import CustomFeature
from app.modeling.scoring.scores import score_all
from app.modeling.scoring.thresholds import cross_fit_thresholds
from app.modeling.table.column_kinds import ColumnKind, column_kind
from app.modeling.table.sampling import sample_rows
from app.modeling.training.fitting import CandidateSpec, fit_rows, predict_all
from app.modeling.training.persistence import StoredModel, deserialize_model, serialize_model
from app.modeling.training.training_set import TrainingSet

FEATURE_CHECKS = (
    "runs on the training rows",
    "gives the same output each time",
    "gives a row the same output whatever other rows there are",
    "works on one row",
    "works on missing, unseen and extreme values",
    "needs no target to be applied",
)
ESTIMATOR_CHECKS = (
    "learns and predicts",
    "gives the same output each time",
    "gives a row the same output whatever other rows there are",
    "works on one row",
    "can be stored and loaded",
)
SINGLE_ROWS = 5
"""Rows that are tried alone: the first, the last and some between."""
MAX_TRIAL_ROWS = 2_000
"""A trial takes seconds on so many rows, and their scores show gross errors."""
MIN_TRIAL_ROWS = 10
"""Rows to train on and to test on."""


class TrialFacts(TypedDict):
    """Facts of a passed trial. `seconds`: fitting and applying on `rows`; `score`: of an estimator, on
    held-out rows."""

    rows: int
    seconds: float
    checks: list[str]
    score: float | None


def try_feature(operation: CustomFeature, frame: pd.DataFrame, target: pd.Series) -> TrialFacts:
    """Run all of FEATURE_CHECKS; raises InvalidInput that names the check and the fault."""
    started = time.perf_counter()
    state, _ = operation.fit_apply(frame, None, target)
    seconds = time.perf_counter() - started
    names = list(state["makes"])
    # Of `apply`, not of `fit_apply`: the latter gives training rows the features of other folds.
    features = operation.apply(frame, state, None)[names]
    with _prefix_errors("Learned and applied again to the same rows"):
        again, _ = operation.fit_apply(frame, None, target)
        _must_equal(features, operation.apply(frame, again, None)[names], "code_not_deterministic")
    with _prefix_errors("A single row"):
        for position in np.linspace(0, len(frame) - 1, SINGLE_ROWS).astype(int):
            # A feature that uses other rows of the batch differs for a row alone.
            alone = operation.apply(frame.iloc[[position]], state, None)[names]
            _must_equal(features.iloc[[position]], alone, "code_peeks")
    with _prefix_errors("Rows with missing, unseen and extreme values"):
        # Only that it runs: what these rows should give is not known.
        operation.apply(make_odd_rows(frame), state, None)
    return {"rows": len(frame), "seconds": round(seconds, 4), "checks": list(FEATURE_CHECKS), "score": None}


def try_estimator(frame: pd.DataFrame, problem: Problem, spec: CandidateSpec) -> TrialFacts:
    """Run all of ESTIMATOR_CHECKS on a sample of the training rows, split into training and test rows."""
    data = TrainingSet.from_frame(frame, problem)
    inputs, labelled = data.inputs, data.labelled_rows
    if len(labelled) < MIN_TRIAL_ROWS:
        raise InvalidInput("too_little_data", f"There are only {len(labelled)} rows to try an estimator on.")
    rows = labelled[sample_rows(len(labelled), MAX_TRIAL_ROWS, spec.seed)]
    # Rows without an order may be sorted by something; ordered ones are tested on the latest.
    if problem.time_column is None:
        rows = np.random.default_rng(spec.seed).permutation(rows)
    train, test = np.sort(rows[: len(rows) * 4 // 5]), np.sort(rows[len(rows) * 4 // 5 :])
    started = time.perf_counter()
    model = fit_rows(data, train, spec)
    predictions = predict_all(model, inputs.iloc[test], problem)
    seconds = time.perf_counter() - started
    with _prefix_errors("Learned again from the same rows"):
        again = predict_all(fit_rows(data, train, spec), inputs.iloc[test], problem)
        _must_agree(predictions, again, "code_not_deterministic")
    with _prefix_errors("Stored and loaded"):
        loaded: Any = deserialize_model(serialize_model(StoredModel(model, {}))).pipeline
        _must_agree(predictions, predict_all(loaded, inputs.iloc[test], problem), "bad_state")
    with _prefix_errors("A single row"):
        _must_agree(predictions[:1], predict_all(model, inputs.iloc[test[:1]], problem), "code_peeks")
    scores = score_all(
        cross_fit_thresholds(problem, data.labels.iloc[test].to_numpy(), predictions, np.zeros(len(test))),
        problem,
    )
    return {
        "rows": len(rows),
        "seconds": round(seconds, 4),
        "checks": list(ESTIMATOR_CHECKS),
        "score": scores[problem.metric],
    }


def make_odd_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Make three unusual rows as a prediction may contain them: all missing, unseen, and extreme values."""
    return pd.DataFrame({name: _odd_values(frame[name]) for name in frame.columns})


def _odd_values(column: pd.Series) -> pd.Series:
    match column_kind(column):
        case ColumnKind.NUMBER | ColumnKind.EMPTY:
            return pd.Series([np.nan, 1e9, -1e9], dtype="float64")
        case ColumnKind.BOOLEAN:
            return pd.Series([None, True, False], dtype="boolean")
        case ColumnKind.DATETIME:
            return pd.Series(pd.to_datetime(["NaT", "1900-01-01", "2100-01-01"])).astype(column.dtype)
        case _:
            return pd.Series([None, "never seen", ""], dtype="str")


@contextmanager
def _prefix_errors(check: str) -> Iterator[None]:
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(error.code, f"{check}: {error.detail}", **error.facts) from error


def _must_equal(expected: pd.DataFrame, actual: pd.DataFrame, code: str) -> None:
    for name in expected.columns:
        expected_values, actual_values = (
            expected[name].reset_index(drop=True),
            actual[name].reset_index(drop=True),
        )
        # Sums in another order differ in the last digits.
        if expected_values.dtype.kind == "f":
            same = np.isclose(expected_values, actual_values, rtol=1e-5, equal_nan=True).all()
        else:
            same = expected_values.equals(actual_values)
        if not same:
            raise InvalidInput(code, f"`{name}` is different.")


def _must_agree(expected: np.ndarray, actual: np.ndarray, code: str) -> None:
    if not np.allclose(expected, actual, rtol=1e-5, atol=1e-8, equal_nan=True):
        raise InvalidInput(code, "its predictions are different.")
