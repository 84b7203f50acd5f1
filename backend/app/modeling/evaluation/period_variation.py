"""Variation of a score between periods of time, beyond what chance within a period explains.

A score is split into the difficulty of a period (the score of the best constant there) and the skill of the
model beyond it. Difficulty is known for all of the past, including rows that were not predicted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from app.modeling.facts.computation_facts import Interval
from app.modeling.problem.problem import Problem
from app.modeling.scoring.score_transforms import get_transform, to_unbounded
from app.modeling.scoring.scores import SCORERS, Predicted
from app.modeling.table.json_values import round_significant

COUNT = 4
"""Periods: more have too few rows each, fewer show no trend."""
MIN_ROWS = 40
"""Ten rows per period."""
MAX_LOG_RATIO = np.log(100)
"""A period with a constant target counts as one with a hundredth of the usual difficulty."""
_BY_MEAN = frozenset({"rmse", "r2", "rmsle", "poisson_deviance"})


@dataclass(frozen=True)
class Past:
    """Rows before the evaluated ones. `targets` (rows,): prediction targets in time order. `folds`: scores
    of models trained on at least half of the rows, with the targets that they predicted. `periods`: targets of
    periods as long as that of the evaluated rows, where these are of a single one."""

    targets: np.ndarray
    folds: tuple[tuple[float, np.ndarray], ...] = ()
    periods: tuple[np.ndarray, ...] = ()


@dataclass(frozen=True)
class Periods:
    """`scores` of equal parts of the evaluated rows in time order, or of earlier periods and of these rows.

    On the scale of `score_transforms`: `chance`, the standard error of the score of all rows, and `spread`, the
    standard deviation of another period's score beyond it. `varied`: the variation of a numeric target in the
    richest part of the past, relative to these rows.
    """

    scores: tuple[float, ...]
    spread: float
    chance: float
    noise: float
    """Standard error of one period's score, in its own unit."""
    varied: float
    compared: int | None = None
    """Periods that the spread is known from; None where they are parts of the evaluated rows."""

    @property
    def moves(self) -> bool:
        """True if scores differ between periods far more than chance explains."""
        return self.spread > 3 * self.chance

    def worsens(self, greater_is_better: bool) -> bool:
        """Return true if the last period is worse than the first beyond noise, and the worst of all."""
        sign = 1 if greater_is_better else -1
        fall = sign * (self.scores[0] - self.scores[-1])
        # 2.8 standard errors are the 95 % bound of the difference of two scores, 1.96 times the root of two.
        return fall > 2.8 * self.noise and sign * self.scores[-1] <= sign * min(
            self.scores, key=lambda score: sign * score
        )


def analyse_periods(
    predicted: Predicted,
    problem: Problem,
    score: Interval,
    past: Past | None = None,
    targets: np.ndarray | None = None,
) -> Periods | None:
    """Split the rows, which are in time order, into periods; `score` is that of all rows, with its interval.

    `targets`: prediction targets, if they are not the labels. None for few rows, or if a period has no score or
    the score has no error.
    """
    truth = predicted.truth if targets is None else targets
    chance = standard_error(score, problem.metric)
    if len(truth) < MIN_ROWS or chance is None or score["low"] is None or score["high"] is None:
        return None
    parts = np.array_split(np.arange(len(truth)), COUNT)
    scores = [SCORERS[problem.metric](predicted.take(part)) for part in parts]
    if not np.isfinite(scores).all():
        return None
    past = past or Past(truth[:0])
    overall = difficulty(truth, predicted, problem)
    stretches = _period_difficulties(
        np.concatenate([past.targets, truth]), len(truth) // COUNT, predicted, problem, overall
    )
    # Folds of the past are further periods: four quarters alone tell little about a spread.
    scored = [(value, truth[part]) for value, part in zip(scores, parts, strict=True)] + list(past.folds)
    skills = [
        to_unbounded(problem.metric, value) - clip_difficulty(difficulty(rows, predicted, problem), overall)
        for value, rows in scored
    ]
    # A skill is the difference of two scores and has the error of both; the AUC of a constant has no error.
    factor = 2.0 if np.isfinite(overall) and np.ptp(stretches) > 0 else 1.0
    by_chance = [factor * chance**2 * len(truth) / len(rows) for _, rows in scored]
    finite = np.isfinite(skills)
    variance = _excess_variance(np.asarray(skills)[finite], np.asarray(by_chance)[finite]) + _change(
        stretches, chance
    )
    return Periods(
        tuple(scores),
        float(np.sqrt(variance)),
        chance,
        (score["high"] - score["low"]) / (2 * 1.96) * np.sqrt(COUNT),
        1.0 if problem.is_classification else float(np.exp(max(stretches) - np.mean(stretches[-COUNT:]))),
    )


def widen_interval(score: Interval, periods: Periods, metric: str) -> Interval:
    """Widen an interval to that of another period: chance and the variation between periods together."""
    value, low, high = score["value"], score["low"], score["high"]
    if value is None or low is None or high is None:
        return score
    middle, period_error = to_unbounded(metric, value), 1.96 * periods.spread
    distances = [
        np.hypot(max(sign * (to_unbounded(metric, end) - middle), 0.0), period_error)
        for sign, end in ((-1, low), (1, high))
    ]
    if not np.isfinite([middle, *distances]).all():
        return score
    back = get_transform(metric).from_unbounded
    return {
        "value": value,
        "low": round_significant(float(back(middle - distances[0]))),
        "high": round_significant(float(back(middle + distances[1]))),
    }


def difficulty(targets: np.ndarray, like: Predicted, problem: Problem) -> float:
    """Score of the best constant for these rows, on the scale of `score_transforms`."""
    if problem.is_classification:
        shares = np.bincount(targets.astype(int), minlength=like.output.shape[1]) / max(len(targets), 1)
        predictions: np.ndarray = np.tile(shares, (len(targets), 1))
    else:
        # The constant that is best for the metric, since another one would call a hard period easy.
        middle = (
            np.mean(targets) if problem.metric in _BY_MEAN else np.quantile(targets, problem.quantile or 0.5)
        )
        predictions = np.full(len(targets), middle)
    score = SCORERS[problem.metric](replace(like, truth=targets, output=predictions))
    return to_unbounded(problem.metric, score)


def standard_error(score: Interval, metric: str) -> float | None:
    """Standard error by chance alone, on the scale of `score_transforms`."""
    if score["low"] is None or score["high"] is None:
        return None
    error = (to_unbounded(metric, score["high"]) - to_unbounded(metric, score["low"])) / (2 * 1.96)
    return error if np.isfinite(error) else None


def clip_difficulty(value: float, overall: float) -> float:
    """0 if constants have no score; values far from the overall difficulty are clipped."""
    if not np.isfinite(overall):
        return 0.0
    return float(np.clip(np.nan_to_num(value, nan=overall), overall - MAX_LOG_RATIO, overall + MAX_LOG_RATIO))


def _period_difficulties(
    targets: np.ndarray, length: int, like: Predicted, problem: Problem, overall: float
) -> Sequence[float]:
    """Difficulty of each period of `length` rows, counted from the end, in time order."""
    ends = range(len(targets), length - 1, -length)
    difficulties = [
        clip_difficulty(difficulty(targets[end - length : end], like, problem), overall) for end in ends
    ]
    return difficulties[::-1]


def _excess_variance(skills: np.ndarray, by_chance: np.ndarray) -> float:
    """Variance beyond chance, enlarged for few values (Student's t)."""
    if len(skills) < 2:
        return 0.0
    small_sample = float(stats.t.ppf(0.975, len(skills) - 1)) / 1.96
    return max(0.0, float(np.var(skills, ddof=1) - by_chance.mean())) * small_sample**2


def _change(stretches: Sequence[float], chance: float) -> float:
    """Mean squared change between periods as long as the evaluated rows, beyond chance."""
    # Means over as many periods as were judged: the claim is about a time as long as the hold-out.
    means = np.convolve(stretches, np.full(COUNT, 1 / COUNT), "valid")
    steps = means[COUNT:] - means[:-COUNT]
    # Both ends of a change have the error by chance, hence twice its square.
    return max(0.0, float(np.mean(steps**2)) - 2 * chance**2) if len(steps) else 0.0
