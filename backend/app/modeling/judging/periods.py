"""How much a score moves from one stretch of time to the next, beyond what chance within a stretch explains.

A score is taken apart: how much there was to be told in a stretch (what the best constant would score there),
and how much better than that the model did. The first is known of all the past, also where nothing was judged.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from app.modeling.problem.problem import Problem
from app.modeling.problem.results import Interval
from app.modeling.scoring.metric_ranges import get_transform, to_unbounded
from app.modeling.scoring.scores import SCORERS, Predicted
from app.modeling.table.json_values import round_significant

COUNT = 4
MIN_ROWS = 40
FARTHEST = np.log(100)
"""A stretch where there was nothing to be told counts as one with a hundredth of the usual."""
_BY_MEAN = frozenset({"rmse", "r2", "rmsle", "poisson_deviance"})


@dataclass(frozen=True)
class Past:
    """What lies before the judged rows. `targets` (rows,): what was to be told, in time order, as far back as
    known. `folds`: scores of models that had learned from half of it at least, and the targets they told."""

    targets: np.ndarray
    folds: tuple[tuple[float, np.ndarray], ...] = ()


@dataclass(frozen=True)
class Periods:
    """`scores` of equal parts of the judged rows in time order. On the scale of `ranges`: `chance`, the
    standard error of the score of all rows, and `spread`, the standard deviation of another period's beyond it.

    `varied`: how many times as much a number varied in the richest part of the past as in these rows.
    """

    scores: tuple[float, ...]
    spread: float
    chance: float
    noise: float
    """Standard error of one period's score, in its own unit."""
    varied: float

    @property
    def moves(self) -> bool:
        """Whether scores differ between periods far more than chance explains."""
        return self.spread > 3 * self.chance

    def worsens(self, greater_is_better: bool) -> bool:
        """Whether the last period is worse than the first beyond noise, with no better one between."""
        sign = 1 if greater_is_better else -1
        fall = sign * (self.scores[0] - self.scores[-1])
        return fall > 2.8 * self.noise and sign * self.scores[-1] <= sign * min(
            self.scores, key=lambda s: sign * s
        )


def periods_of(
    predicted: Predicted,
    problem: Problem,
    score: Interval,
    past: Past | None = None,
    targets: np.ndarray | None = None,
) -> Periods | None:
    """The rows lie in time order; `score` is that of all of them, with its interval by chance alone.

    `targets`: what was to be told, where that is not the labels. None for few rows, where a period has no
    score, or where the score has no error.
    """
    told = predicted.truth if targets is None else targets
    chance = _chance(score, problem.metric)
    if len(told) < MIN_ROWS or chance is None or score["low"] is None or score["high"] is None:
        return None
    parts = np.array_split(np.arange(len(told)), COUNT)
    scores = [SCORERS[problem.metric](predicted.take(part)) for part in parts]
    if not np.isfinite(scores).all():
        return None
    past = past or Past(told[:0])
    usual = difficulty(told, predicted, problem)
    stretches = _stretches(np.concatenate([past.targets, told]), len(told) // COUNT, predicted, problem, usual)
    judged = [(value, told[part]) for value, part in zip(scores, parts, strict=True)] + list(past.folds)
    skills = [
        to_unbounded(problem.metric, value) - _near(difficulty(rows, predicted, problem), usual)
        for value, rows in judged
    ]
    # A skill is the difference of two scores, and so has the chance of both; a constant AUC has none.
    both = 2.0 if np.isfinite(usual) and np.ptp(stretches) > 0 else 1.0
    by_chance = [both * chance**2 * len(told) / len(rows) for _, rows in judged]
    known = np.isfinite(skills)
    variance = _beyond(np.asarray(skills)[known], np.asarray(by_chance)[known]) + _change(stretches, chance)
    return Periods(
        tuple(scores),
        float(np.sqrt(variance)),
        chance,
        (score["high"] - score["low"]) / (2 * 1.96) * np.sqrt(COUNT),
        1.0 if problem.is_classification else float(np.exp(max(stretches) - np.mean(stretches[-COUNT:]))),
    )


def widened(score: Interval, periods: Periods, metric: str) -> Interval:
    """The interval for another period: chance and the move from period to period together."""
    value, low, high = score["value"], score["low"], score["high"]
    if value is None or low is None or high is None:
        return score
    middle, move = to_unbounded(metric, value), 1.96 * periods.spread
    reach = [
        np.hypot(max(sign * (to_unbounded(metric, end) - middle), 0.0), move)
        for sign, end in ((-1, low), (1, high))
    ]
    if not np.isfinite([middle, *reach]).all():
        return score
    back = get_transform(metric).from_unbounded
    return {
        "value": value,
        "low": round_significant(float(back(middle - reach[0]))),
        "high": round_significant(float(back(middle + reach[1]))),
    }


def difficulty(targets: np.ndarray, like: Predicted, problem: Problem) -> float:
    """What the best constant for these rows would score on them, on the scale of `ranges`."""
    if problem.is_classification:
        shares = np.bincount(targets.astype(int), minlength=like.output.shape[1]) / max(len(targets), 1)
        said: np.ndarray = np.tile(shares, (len(targets), 1))
    else:
        middle = (
            np.mean(targets) if problem.metric in _BY_MEAN else np.quantile(targets, problem.quantile or 0.5)
        )
        said = np.full(len(targets), middle)
    score = SCORERS[problem.metric](replace(like, truth=targets, output=said))
    return to_unbounded(problem.metric, score)


def _chance(score: Interval, metric: str) -> float | None:
    """Standard error by chance alone, on the scale of `ranges`."""
    if score["low"] is None or score["high"] is None:
        return None
    error = (to_unbounded(metric, score["high"]) - to_unbounded(metric, score["low"])) / (2 * 1.96)
    return error if np.isfinite(error) else None


def _near(place: float, usual: float) -> float:
    """0 where no constant scores; of stretches with nothing to be told, the nearest that counts."""
    if not np.isfinite(usual):
        return 0.0
    return float(np.clip(np.nan_to_num(place, nan=usual), usual - FARTHEST, usual + FARTHEST))


def _stretches(
    targets: np.ndarray, length: int, like: Predicted, problem: Problem, usual: float
) -> Sequence[float]:
    """How much there was to be told in each stretch of so many rows, counted from the end."""
    ends = range(len(targets), length - 1, -length)
    places = [_near(difficulty(targets[end - length : end], like, problem), usual) for end in ends]
    return places[::-1]


def _beyond(skills: np.ndarray, by_chance: np.ndarray) -> float:
    """Variance beyond chance, the larger the fewer are known (Student's t)."""
    if len(skills) < 2:
        return 0.0
    few = float(stats.t.ppf(0.975, len(skills) - 1)) / 1.96
    return max(0.0, float(np.var(skills, ddof=1) - by_chance.mean())) * few**2


def _change(stretches: Sequence[float], chance: float) -> float:
    """Mean squared step from one period as long as the judged rows to the next, beyond chance."""
    means = np.convolve(stretches, np.full(COUNT, 1 / COUNT), "valid")
    steps = means[COUNT:] - means[:-COUNT]
    return max(0.0, float(np.mean(steps**2)) - 2 * chance**2) if len(steps) else 0.0
