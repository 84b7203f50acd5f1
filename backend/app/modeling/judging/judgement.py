"""What figures on new rows mean, in plain sentences."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.modeling.judging.periods import Periods
from app.modeling.problem.metrics import METRICS
from app.modeling.problem.problem import Problem
from app.modeling.problem.results import CoverageJson, Interval
from app.modeling.scoring.scores import Predicted

ROUGH = 100
"""Rows below which every figure is rough."""


MUCH = 1.5


@dataclass(frozen=True)
class Agreement:
    """A score on new rows against the cross-validated one; errors are standard errors."""

    held: float
    expected: float
    held_error: float
    expected_error: float

    @property
    def agrees(self) -> bool:
        return abs(self.held - self.expected) <= 1.96 * float(np.hypot(self.held_error, self.expected_error))


def held_against(held: Interval, fit: Mapping[str, Any]) -> Agreement | None:
    """None where either score or its error is unknown.

    Folds share training rows, so their variance is corrected as Nadeau and Bengio (2003) do.
    """
    value, low, high, expected = held["value"], held["low"], held["high"], fit.get("score")
    if value is None or low is None or high is None or expected is None:
        return None
    scores = [score for score in fit.get("fold_scores") or () if score is not None]
    count = len(scores)
    spread = float(np.std(scores, ddof=1)) * np.sqrt(1 / count + 1 / (count - 1)) if count > 1 else 0.0
    return Agreement(value, float(expected), (high - low) / (2 * 1.96), float(spread))


def notes_on(
    predicted: Predicted,
    problem: Problem,
    metrics: Mapping[str, Interval],
    difference: Interval,
    agreement: Agreement | None,
    periods: Periods | None,
    reached: CoverageJson | None,
) -> list[str]:
    """What does not hold, and what to be careful about."""
    notes = [
        _baseline(difference),
        _agreement(agreement, problem),
        _worsening(periods, problem),
        _moving(periods, metrics[problem.metric], problem),
        _coverage(reached),
        f"Only {len(predicted.truth)} rows were judged, so every figure here is rough."
        if len(predicted.truth) < ROUGH
        else None,
    ]
    return [note for note in notes if note]


def _baseline(difference: Interval) -> str | None:
    value, low, high = difference["value"], difference["low"], difference["high"]
    if low is not None and low > 0:
        return None
    if high is not None and high < 0:
        return "It is worse than the naive baseline on these rows."
    if value is not None and low is None:
        return "Whether it beats the naive baseline cannot be said from these rows."
    return "It does not beat the naive baseline beyond chance on these rows."


def _agreement(agreement: Agreement | None, problem: Problem) -> str | None:
    if agreement is None or agreement.agrees:
        return None
    better = (agreement.held > agreement.expected) == METRICS[problem.metric].greater_is_better
    said = (
        f"The {problem.metric} here ({agreement.held:.4g}, standard error {agreement.held_error:.2g}) is"
        f" {'better' if better else 'worse'} than in cross-validation ({agreement.expected:.4g}, standard error"
        f" {agreement.expected_error:.2g}) beyond what chance explains."
    )
    if better:
        return said
    why = "the world moved on" if problem.time_column else "something in training does not hold for new rows"
    return f"{said} Expect what was found here: {why}."


def _worsening(periods: Periods | None, problem: Problem) -> str | None:
    if periods is None or not periods.worsens(METRICS[problem.metric].greater_is_better):
        return None
    first, last = periods.scores[0], periods.scores[-1]
    return (
        f"The {problem.metric} worsens with time: {first:.4g} in the first quarter of these rows, {last:.4g} in"
        " the last. Expect it to go on, and train again on newer rows."
    )


def _moving(periods: Periods | None, score: Interval, problem: Problem) -> str | None:
    if periods is None or not periods.moves:
        return None
    said = f"From one period to the next the {problem.metric} moves more than chance explains"
    if periods.varied >= MUCH:
        said += f", and {problem.target!r} has varied up to {periods.varied:.1f} times as much as in these rows"
    return f"{said}: on coming rows expect it between {score['low']:.4g} and {score['high']:.4g}."


def _coverage(reached: CoverageJson | None) -> str | None:
    if reached is None:
        return None
    share, level = reached["coverage"], reached["level"]
    value, low, high = share["value"], share["low"], share["high"]
    if value is None or low is None or high is None or abs(value - level) < 0.02:
        return None
    narrow = value < level
    # The bounds come from a sample as well: as unsure as the share that they hold here.
    reach = np.sqrt(2) * ((high - value) if narrow else (value - low))
    if abs(value - level) <= reach:
        return None
    return (
        f"The {level:.0%} prediction intervals hold {value:.1%} of these rows: they are too"
        f" {'narrow' if narrow else 'wide'}."
    )
