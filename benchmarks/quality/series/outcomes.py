"""Errors of forecasts relative to the references, and coverage of their intervals. Pure functions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
import pandas as pd
from benchmarks.quality.comparison import LABCREW
from benchmarks.quality.run_folders import Json
from benchmarks.quality.series.forecasts import forecast_array, origin_spacing, true_values

RESAMPLE_COUNT = 400
"""Bootstrap resamples of origins: enough for a standard error to within 4 %."""
MIN_COVERAGE, MAX_COVERAGE = 0.85, 0.95
"""Accepted coverage of 90 % intervals."""
MAX_RATIO = 2.0
"""Largest ratio of errors, so that no single task decides a mean. Of a series that stands still, the last
value has no error at all."""


@dataclass(frozen=True)
class Outcome:
    """Errors and coverage of one task.

    `ratio`: root mean square error over that of the best reference, below 1 is better; `ratio_error` is its
    standard error. `coverage`: share of the true values within the intervals; `coverage_error` is its standard
    error; None without intervals.
    """

    task: str
    best_reference: str
    ratio: float
    ratio_error: float
    coverage: float | None
    coverage_error: float | None
    forecaster: str
    seconds: float | None

    @property
    def is_worse(self) -> bool:
        return self.ratio - 1 > max(self.ratio_error, 1e-3)

    @property
    def has_nominal_coverage(self) -> bool | None:
        """Return true if the coverage is 85 to 95 % within two standard errors; None without intervals."""
        if self.coverage is None or self.coverage_error is None:
            return None
        return MIN_COVERAGE - 2 * self.coverage_error <= self.coverage <= MAX_COVERAGE + 2 * self.coverage_error


def evaluate_task(values: pd.DataFrame, facts: Json, results: Mapping[str, Json]) -> Outcome | None:
    """Evaluate one task from its results (`references` and `labcrew`); None before both, or after a failure."""
    labcrew, references = results.get(LABCREW), results.get("references")
    if labcrew is None or references is None or "forecasts" not in labcrew:
        return None
    truth = true_values(values, facts)
    scale = _scales(values.to_numpy(float)[: facts["train_moments"]])
    forecasts = {name: forecast_array(rows, values, facts) for name, rows in references["forecasts"].items()}
    path = forecast_array(labcrew["forecasts"][LABCREW], values, facts)
    # All are compared on the same values: those that are known, and that Labcrew forecast.
    evaluated = np.isfinite(truth) & np.isfinite(path)
    reference_squares = {
        name: _squared_errors(table, truth, scale, evaluated)
        for name, table in forecasts.items()
        if np.isfinite(table[evaluated]).all()
    }
    labcrew_squares = _squared_errors(path, truth, scale, evaluated)
    best_reference = min(reference_squares, key=lambda name: float(reference_squares[name].sum()))
    resamples = resample_origins(len(truth), math.ceil(facts["horizon"] / origin_spacing(facts)))
    ratios = [_ratio(labcrew_squares[rows], reference_squares[best_reference][rows]) for rows in resamples]
    coverage, coverage_error = _coverage(labcrew, values, facts, truth, evaluated, resamples)
    return Outcome(
        facts["name"],
        best_reference,
        _ratio(labcrew_squares, reference_squares[best_reference]),
        float(np.std(ratios, ddof=1)),
        coverage,
        coverage_error,
        labcrew.get("forecaster") or labcrew["note"],
        labcrew.get("fit_s"),
    )


def _ratio(squares: np.ndarray, reference: np.ndarray) -> float:
    """Ratio of root mean squares, at most `MAX_RATIO`."""
    if reference.sum() <= 0:
        return MAX_RATIO if squares.sum() > 0 else 1.0
    return min(math.sqrt(squares.sum() / reference.sum()), MAX_RATIO)


def _scales(past: np.ndarray) -> np.ndarray:
    """Mean change from row to row of each series, so that series of large numbers do not decide."""
    changes = np.nanmean(np.abs(np.diff(past, axis=0)), axis=0)
    return np.where(changes > 0, changes, 1.0)


def _squared_errors(
    table: np.ndarray, truth: np.ndarray, scale: np.ndarray, evaluated: np.ndarray
) -> np.ndarray:
    """Squared scaled errors, added up by origin (origins,)."""
    errors = np.where(evaluated, (table - truth) / scale[None, :, None], 0.0)
    sums: np.ndarray = (errors**2).sum(axis=(1, 2))
    return sums


def resample_origins(origin_count: int, block_length: int, seed: int = 1) -> list[np.ndarray]:
    """Bootstrap resamples of origins, in blocks as long as neighbouring forecasts share their future."""
    block_length = min(block_length, max(1, origin_count // 2))
    rng = np.random.default_rng(seed)
    resamples = []
    for _ in range(RESAMPLE_COUNT):
        starts = rng.integers(0, origin_count - block_length + 1, math.ceil(origin_count / block_length))
        resamples.append((starts[:, None] + np.arange(block_length)).ravel()[:origin_count])
    return resamples


def _coverage(
    labcrew: Json,
    values: pd.DataFrame,
    facts: Json,
    truth: np.ndarray,
    evaluated: np.ndarray,
    resamples: Sequence[np.ndarray],
) -> tuple[float | None, float | None]:
    low, high = (forecast_array(labcrew["forecasts"][LABCREW], values, facts, part) for part in ("low", "high"))
    with_intervals = evaluated & np.isfinite(low) & np.isfinite(high)
    if not with_intervals.any():
        return None, None
    inside, counts = (
        ((truth >= low) & (truth <= high) & with_intervals).sum(axis=(1, 2)),
        with_intervals.sum(axis=(1, 2)),
    )
    shares = [inside[rows].sum() / max(counts[rows].sum(), 1) for rows in resamples]
    return float(inside.sum() / counts.sum()), float(np.std(shares, ddof=1))


@dataclass(frozen=True)
class Summary:
    """Means over tasks: those that a reference beats by more than its error, and coverage of intervals."""

    tasks: int
    worse: int
    mean_ratio: float
    with_intervals: int
    mean_coverage: float
    nominal: int


def summarise(outcomes: Sequence[Outcome]) -> Summary | None:
    if not outcomes:
        return None
    shares = [outcome.coverage for outcome in outcomes if outcome.coverage is not None]
    return Summary(
        len(outcomes),
        sum(outcome.is_worse for outcome in outcomes),
        math.exp(fmean(math.log(max(outcome.ratio, 1e-9)) for outcome in outcomes)),
        len(shares),
        fmean(shares) if shares else math.nan,
        sum(bool(outcome.has_nominal_coverage) for outcome in outcomes),
    )
