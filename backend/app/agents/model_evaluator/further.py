"""What is worth fitting next: further folds of the candidates that carry weight, then variants of the best."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

BASELINE = "baseline"
HEAVY = 0.05
"""A candidate that weighs less in the ensemble is not worth further fits."""
MOST_HEAVY = 6
MOST_VARIANTS = 8
COUNTED_VARIANTS = 4
"""Of a session that counts instead of looking at the clock."""
LEAST_S = 0.6
"""A round in less time than this is not worth its start."""
REFIT = 1.3
"""A fit on all rows, beside one on the rows of a fold."""
USED = 0.9
"""Of the time that is left, planned with: fits do not end at the same moment."""

Fit = Mapping[str, Any]


@dataclass(frozen=True)
class Folds:
    """Fit these folds of these candidates, where they lack them; no fold: once more, on all rows."""

    models: list[str]
    folds: list[int]


@dataclass(frozen=True)
class Variants:
    """Fit as many others like these candidates, on one fold."""

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
    def heavy(self) -> list[Fit]:
        """The candidates worth more fits, the heaviest first: for one simple model the two best."""
        real = [fit for fit in self.fits if fit["estimator"] != BASELINE and fit["score"] is not None]
        if self.single or not self.weights:
            sign = -1 if real and real[0]["greater_is_better"] else 1
            return sorted(real, key=lambda fit: sign * fit["score"])[: 2 if self.single else 3]
        weighty = [fit for fit in real if self.weights.get(fit["name"], 0.0) >= HEAVY]
        return sorted(weighty, key=lambda fit: -self.weights[fit["name"]])[:MOST_HEAVY]


def next_round(standing: Standing) -> Folds | Variants | None:
    """None: there is no time left for anything worth it."""
    heavy = standing.heavy
    if not heavy or (standing.seconds is not None and standing.seconds < LEAST_S):
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
    """Folds that some of the heavy have and others lack come first; then further ones, for all of them."""
    lacking = [fold for fold in standing.order if any(fold not in fit["run"] for fit in heavy)]
    if not lacking:
        return None
    for many in range(len(lacking), 0, -1):
        if _affordable(standing, heavy, lacking[:many]):
            return Folds([fit["name"] for fit in heavy], lacking[:many])
    for few in range(len(heavy) - 1, 0, -1):
        if _affordable(standing, heavy[:few], lacking[:1]):
            return Folds([fit["name"] for fit in heavy[:few]], lacking[:1])
    return None


def _affordable(standing: Standing, heavy: Sequence[Fit], folds: Sequence[int]) -> bool:
    if standing.seconds is None:
        return True
    jobs = [fold_s(fit) for fit in heavy for fold in folds if fold not in fit["run"]]
    return wall_s(jobs, standing.hands) <= USED * standing.seconds


def _variants(standing: Standing, heavy: Sequence[Fit]) -> Variants | None:
    bases = heavy[:3]
    models = [fit["name"] for fit in bases]
    if standing.seconds is None:
        return Variants(models, list(standing.order[:1]), COUNTED_VARIANTS)
    each_s = sum(fold_s(fit) for fit in bases) / len(bases)
    room = USED * standing.seconds * standing.hands
    # A variant that earns weight needs its other folds too: half of the time is theirs.
    many = int(room / 2 / max(each_s, 1e-3))
    if many < 2 or room / standing.hands < each_s * (1 + (len(standing.order) - 1) / standing.hands):
        return None
    return Variants(models, list(standing.order[:1]), min(many, MOST_VARIANTS))


def fold_s(fit: Fit) -> float:
    """Seconds that one more fold of a candidate takes, reading and writing included."""
    return float(fit["fit_s"]) / max(len(fit["run"]), 1)


def wall_s(jobs: Sequence[float], hands: int) -> float:
    """How long jobs take on so many workers, the longest first."""
    ends = [0.0] * max(hands, 1)
    for job in sorted(jobs, reverse=True):
        ends[ends.index(min(ends))] += job
    return max(ends)
