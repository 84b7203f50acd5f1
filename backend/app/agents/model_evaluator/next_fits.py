"""What is worth fitting next: further folds of the candidates that carry weight, then variants of the best."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.modeling.problem.kinds import BASELINE

HEAVY = 0.05
"""A candidate that weighs less in the ensemble is not worth further fits."""
MAX_HEAVY = 6
MAX_VARIANTS = 6
MAX_CANDIDATES = 24
"""More than these only find who was lucky."""
COUNTED_VARIANTS = 4
"""Of a session that counts instead of looking at the clock."""
MIN_S = 0.6
"""A round in less time than this is not worth its start."""
REFIT = 1.3
"""A fit on all rows, beside one on the rows of a fold."""
CHEAP = 0.5
USED = 0.9
"""Of the time that is left, planned with: fits do not end at the same moment. Less is cheap."""

Fit = Mapping[str, Any]


@dataclass(frozen=True)
class Folds:
    """Fit these folds of these candidates, where they lack them; no fold: once more, on all rows."""

    models: list[str]
    folds: list[int]


@dataclass(frozen=True)
class Variants:
    """Fit as many others like these candidates, on these folds."""

    models: list[str]
    folds: list[int]
    most: int


@dataclass(frozen=True)
class Standing:
    """Candidates so far, best first by `weights` (or by score where nothing was blended), and what is left.

    `order`: the folds in the order in which they are fitted. `seconds`: for fits, on `hands` workers; None
    counts rounds only.
    """

    fits: Sequence[Fit]
    weights: Mapping[str, float]
    order: Sequence[int]
    seconds: float | None
    hands: int
    rounds: int = 0
    single: bool = False
    in_time: bool = False
    """Rows are ordered in time: a model that counts has learned from the latest rows too."""

    @property
    def real(self) -> list[Fit]:
        return [fit for fit in self.fits if fit["estimator"] != BASELINE and fit["score"] is not None]

    @property
    def heavy(self) -> list[Fit]:
        """The candidates worth more fits, the heaviest first: for one simple model the two best."""
        real = self.real
        if self.single or not self.weights:
            sign = -1 if real and real[0]["greater_is_better"] else 1
            return sorted(real, key=lambda fit: sign * fit["score"])[: 2 if self.single else 3]
        weighty = [fit for fit in real if self.weights.get(fit["name"], 0.0) >= HEAVY]
        return sorted(weighty, key=lambda fit: -self.weights[fit["name"]])[:MAX_HEAVY]


def next_round(standing: Standing) -> Folds | Variants | None:
    """None: there is no time left for anything worth it."""
    heavy = standing.heavy
    if not heavy or (standing.seconds is not None and standing.seconds < MIN_S):
        return None
    return _refits(standing, heavy) or _folds(standing, heavy) or _variants(standing, heavy)


def _refits(standing: Standing, heavy: Sequence[Fit]) -> Folds | None:
    waiting = [fit for fit in heavy if not fit.get("refitted")] if standing.in_time else []
    for many in range(len(waiting), 0, -1):
        jobs = [REFIT * fold_s(fit) for fit in waiting[:many]]
        if standing.seconds is None or wall_s(jobs, standing.hands) <= USED * standing.seconds:
            return Folds([fit["name"] for fit in waiting[:many]], [])
    return None


def _folds(standing: Standing, heavy: Sequence[Fit]) -> Folds | None:
    """Of everyone where that is cheap: a first fold of few rows says little of weights. Else of the heavy."""
    everyone = heavy if standing.single else standing.real
    lacking = _lacking(standing, everyone)
    if lacking and _affordable(standing, everyone, lacking, CHEAP):
        return Folds([fit["name"] for fit in everyone], lacking)
    lacking = _lacking(standing, heavy)
    for many in range(len(lacking), 0, -1):
        if _affordable(standing, heavy, lacking[:many], USED):
            return Folds([fit["name"] for fit in heavy], lacking[:many])
    for few in range(len(heavy) - 1, 0, -1):
        if lacking and _affordable(standing, heavy[:few], lacking[:1], USED):
            return Folds([fit["name"] for fit in heavy[:few]], lacking[:1])
    return None


def _lacking(standing: Standing, fits: Sequence[Fit]) -> list[int]:
    return [fold for fold in standing.order if any(fold not in fit["run"] for fit in fits)]


def _affordable(standing: Standing, fits: Sequence[Fit], folds: Sequence[int], share: float) -> bool:
    if standing.seconds is None:
        return True
    jobs = [fold_s(fit) for fit in fits for fold in folds if fold not in fit["run"]]
    return wall_s(jobs, standing.hands) <= share * standing.seconds


def _variants(standing: Standing, heavy: Sequence[Fit]) -> Variants | None:
    """On every fold, so that all are weighed by the same rows: chosen by few rows, the luckiest would win."""
    if len(standing.real) >= MAX_CANDIDATES or _lacking(standing, heavy):
        return None
    bases = heavy[:3]
    models, folds = [fit["name"] for fit in bases], list(standing.order)
    if standing.seconds is None:
        return Variants(models, folds, COUNTED_VARIANTS)
    each_s = len(folds) * sum(fold_s(fit) for fit in bases) / len(bases)
    if each_s > USED * standing.seconds:
        return None
    many = int(USED * standing.seconds * standing.hands / max(each_s, 1e-3))
    return Variants(models, folds, min(max(many, 1), MAX_VARIANTS))


def fold_s(fit: Fit) -> float:
    """Seconds that one more fold of a candidate takes, reading and writing included."""
    return float(fit["fit_s"]) / max(len(fit["run"]), 1)


def wall_s(jobs: Sequence[float], hands: int) -> float:
    """How long jobs take on so many workers, the longest first."""
    ends = [0.0] * max(hands, 1)
    for job in sorted(jobs, reverse=True):
        ends[ends.index(min(ends))] += job
    return max(ends)
