"""Pure: errors of the crew's forecasts beside those of the references, and what their intervals hold."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
import pandas as pd
from benchmarks.quality.home import Json
from benchmarks.quality.series.forecasts import as_arrays, origin_spacing, true_values
from benchmarks.quality.standing import OURS

RESAMPLES = 400
MIN_HELD, MAX_HELD = 0.85, 0.95
"""Share of the truth that 90 % intervals are to hold."""
MAX_RATIO = 2.0
"""Largest ratio of errors, so that no single task decides a mean. Of a series that stands still, the last
value has no error at all."""


@dataclass(frozen=True)
class Outcome:
    """`ratio`: root mean square error over that of the best reference, below 1 is better, `error` its standard
    error. `held`: share of the truth within the intervals, `held_error` its standard error; None without any.
    """

    task: str
    best_reference: str
    ratio: float
    error: float
    held: float | None
    held_error: float | None
    forecaster: str
    seconds: float | None

    @property
    def is_worse(self) -> bool:
        return self.ratio - 1 > max(self.error, 1e-3)

    @property
    def holds(self) -> bool | None:
        """Whether the intervals hold 85 to 95 %, within two standard errors of what was measured."""
        if self.held is None or self.held_error is None:
            return None
        return MIN_HELD - 2 * self.held_error <= self.held <= MAX_HELD + 2 * self.held_error


def judge_task(values: pd.DataFrame, facts: Json, results: Mapping[str, Json]) -> Outcome | None:
    """Judge one task by its results (`references` and `labcrew`); None before both, or if the crew failed."""
    ours, references = results.get(OURS), results.get("references")
    if ours is None or references is None or "forecasts" not in ours:
        return None
    truth = true_values(values, facts)
    scale = _scales(values.to_numpy(float)[: facts["train_moments"]])
    forecasts = {name: as_arrays(rows, values, facts) for name, rows in references["forecasts"].items()}
    path = as_arrays(ours["forecasts"][OURS], values, facts)
    # All are judged on the same values: those that are known, and that the crew forecast.
    judged = np.isfinite(truth) & np.isfinite(path)
    squares = {
        name: _square(table, truth, scale, judged)
        for name, table in forecasts.items()
        if np.isfinite(table[judged]).all()
    }
    own = _square(path, truth, scale, judged)
    best = min(squares, key=lambda name: float(squares[name].sum()))
    draws = resample_origins(len(truth), math.ceil(facts["horizon"] / origin_spacing(facts)))
    ratios = [_ratio(own[rows], squares[best][rows]) for rows in draws]
    held, held_error = _coverage(ours, values, facts, truth, judged, draws)
    return Outcome(
        facts["name"],
        best,
        _ratio(own, squares[best]),
        float(np.std(ratios, ddof=1)),
        held,
        held_error,
        ours.get("forecaster") or ours["note"],
        ours.get("fit_s"),
    )


def _ratio(own: np.ndarray, reference: np.ndarray) -> float:
    """Ratio of root mean squares, at most `MAX_RATIO`."""
    if reference.sum() <= 0:
        return MAX_RATIO if own.sum() > 0 else 1.0
    return min(math.sqrt(own.sum() / reference.sum()), MAX_RATIO)


def _scales(past: np.ndarray) -> np.ndarray:
    """Mean change from row to row of each series, so that series of large numbers do not decide."""
    changes = np.nanmean(np.abs(np.diff(past, axis=0)), axis=0)
    return np.where(changes > 0, changes, 1.0)


def _square(table: np.ndarray, truth: np.ndarray, scale: np.ndarray, judged: np.ndarray) -> np.ndarray:
    """Squared scaled errors, added up by origin (origins,)."""
    errors = np.where(judged, (table - truth) / scale[None, :, None], 0.0)
    sums: np.ndarray = (errors**2).sum(axis=(1, 2))
    return sums


def resample_origins(count: int, length: int, seed: int = 1) -> list[np.ndarray]:
    """Places of origins, in blocks as long as neighbouring forecasts share their future."""
    length = min(length, max(1, count // 2))
    rng = np.random.default_rng(seed)
    draws = []
    for _ in range(RESAMPLES):
        starts = rng.integers(0, count - length + 1, math.ceil(count / length))
        draws.append((starts[:, None] + np.arange(length)).ravel()[:count])
    return draws


def _coverage(
    ours: Json,
    values: pd.DataFrame,
    facts: Json,
    truth: np.ndarray,
    judged: np.ndarray,
    draws: Sequence[np.ndarray],
) -> tuple[float | None, float | None]:
    low, high = (as_arrays(ours["forecasts"][OURS], values, facts, part) for part in ("low", "high"))
    bounded = judged & np.isfinite(low) & np.isfinite(high)
    if not bounded.any():
        return None, None
    inside, counts = ((truth >= low) & (truth <= high) & bounded).sum(axis=(1, 2)), bounded.sum(axis=(1, 2))
    shares = [inside[rows].sum() / max(counts[rows].sum(), 1) for rows in draws]
    return float(inside.sum() / counts.sum()), float(np.std(shares, ddof=1))


@dataclass(frozen=True)
class Summary:
    """Tasks, those that a reference beats by more than its error, and what the intervals hold."""

    tasks: int
    worse: int
    mean_ratio: float
    bounded: int
    mean_held: float
    holding: int


def summarise(outcomes: Sequence[Outcome]) -> Summary | None:
    if not outcomes:
        return None
    shares = [outcome.held for outcome in outcomes if outcome.held is not None]
    return Summary(
        len(outcomes),
        sum(outcome.is_worse for outcome in outcomes),
        math.exp(fmean(math.log(max(outcome.ratio, 1e-9)) for outcome in outcomes)),
        len(shares),
        fmean(shares) if shares else math.nan,
        sum(bool(outcome.holds) for outcome in outcomes),
    )
