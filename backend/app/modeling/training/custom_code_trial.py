"""Written code tried on training rows before anything is made of it: what would fail later fails now."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypedDict

import numpy as np
import pandas as pd

from app.errors import InvalidInput
from app.modeling.labels.labels import make_labels
from app.modeling.problem.problem import Problem
from app.modeling.recipe.custom_feature import CustomFeature
from app.modeling.recipe.recipe import select_inputs
from app.modeling.scoring.scores import Predicted, score_all
from app.modeling.table.columns import ColumnKind, column_kind
from app.modeling.table.sampling import sample_rows
from app.modeling.training.fitting import Spec, fit_rows, output_of
from app.modeling.training.persistence import StoredModel, dump, load

FEATURE_CHECKS = (
    "runs on the training rows",
    "says the same each time",
    "says the same of a row whatever other rows there are",
    "works on one row",
    "works on missing, unseen and extreme values",
    "needs no target to be applied",
)
ESTIMATOR_CHECKS = (
    "learns and predicts",
    "says the same each time",
    "says the same of a row whatever other rows there are",
    "works on one row",
    "can be stored and opened again",
)
SINGLE_ROWS = 5
MAX_TRIED = 2_000
MIN_TRIED = 10


class TrialFacts(TypedDict):
    """`seconds`: what learning and applying took on `rows`. `score`: of an estimator, on rows apart."""

    rows: int
    seconds: float
    checks: list[str]
    score: float | None


def try_feature(operation: CustomFeature, frame: pd.DataFrame, target: pd.Series) -> TrialFacts:
    """Raises InvalidInput that says what is wrong and where; passes every one of FEATURE_CHECKS otherwise."""
    started = time.perf_counter()
    state, _ = operation.fit_apply(frame, None, target)
    seconds = time.perf_counter() - started
    names = list(state["makes"])
    made = operation.apply(frame, state, None)[names]
    with _saying("The same rows, learned and made again"):
        again, _ = operation.fit_apply(frame, None, target)
        _must_equal(made, operation.apply(frame, again, None)[names], "code_not_deterministic")
    with _saying("One row alone"):
        for place in np.linspace(0, len(frame) - 1, SINGLE_ROWS).astype(int):
            alone = operation.apply(frame.iloc[[place]], state, None)[names]
            _must_equal(made.iloc[[place]], alone, "code_peeks")
    with _saying("Rows with missing, unseen and extreme values"):
        operation.apply(odd_rows(frame), state, None)
    return {"rows": len(frame), "seconds": round(seconds, 4), "checks": list(FEATURE_CHECKS), "score": None}


def try_estimator(frame: pd.DataFrame, problem: Problem, spec: Spec) -> TrialFacts:
    """The same for a candidate whose estimator is code: on a part of the training rows, judged on the rest."""
    labels, inputs = make_labels(frame, problem), select_inputs(frame, problem)
    known = np.flatnonzero(labels.notna().to_numpy())
    if len(known) < MIN_TRIED:
        raise InvalidInput("too_little_data", f"There are only {len(known)} rows to try an estimator on.")
    rows = known[sample_rows(len(known), MAX_TRIED, spec.seed)]
    if problem.time_column is None:
        rows = np.random.default_rng(spec.seed).permutation(rows)
    taught, asked = np.sort(rows[: len(rows) * 4 // 5]), np.sort(rows[len(rows) * 4 // 5 :])
    started = time.perf_counter()
    model = fit_rows(frame, labels, taught, problem, spec)
    said = output_of(model, inputs.iloc[asked], problem)
    seconds = time.perf_counter() - started
    with _saying("Learned again from the same rows"):
        again = output_of(fit_rows(frame, labels, taught, problem, spec), inputs.iloc[asked], problem)
        _must_agree(said, again, "code_not_deterministic")
    with _saying("Stored and opened again"):
        opened: Any = load(dump(StoredModel(model, {}))).pipeline
        _must_agree(said, output_of(opened, inputs.iloc[asked], problem), "bad_state")
    with _saying("One row alone"):
        _must_agree(said[:1], output_of(model, inputs.iloc[asked[:1]], problem), "code_peeks")
    scores = score_all(Predicted(labels.iloc[asked].to_numpy(), said, problem.positive_index), problem)
    return {
        "rows": len(rows),
        "seconds": round(seconds, 4),
        "checks": list(ESTIMATOR_CHECKS),
        "score": scores[problem.metric],
    }


def odd_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Three rows as a prediction may bring them: all missing, never seen, and far out."""
    return pd.DataFrame({name: _odd(frame[name]) for name in frame.columns})


def _odd(column: pd.Series) -> pd.Series:
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
def _saying(when: str) -> Iterator[None]:
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(error.code, f"{when}: {error.detail}", **error.facts) from error


def _must_equal(one: pd.DataFrame, other: pd.DataFrame, code: str) -> None:
    for name in one.columns:
        left, right = one[name].reset_index(drop=True), other[name].reset_index(drop=True)
        if left.dtype.kind == "f":
            same = np.isclose(left, right, rtol=1e-5, equal_nan=True).all()
        else:
            same = left.equals(right)
        if not same:
            raise InvalidInput(code, f"`{name}` comes out otherwise.")


def _must_agree(one: np.ndarray, other: np.ndarray, code: str) -> None:
    if not np.allclose(one, other, rtol=1e-5, atol=1e-8, equal_nan=True):
        raise InvalidInput(code, "it says something else.")
