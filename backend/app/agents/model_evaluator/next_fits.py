"""The choice of the next fits: further folds of the weighted candidates, then variants of the best ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.modeling.facts.fits import FitSummary
from app.modeling.problem.kinds import PLAIN, REFERENCES

MIN_WEIGHT = 0.05
"""Minimal ensemble weight of a candidate that gets further fits."""
MAX_WEIGHTED_CANDIDATES = 6
"""Candidates that get further fits in one round: more would share its time in pieces too short to learn in."""
MAX_VARIANTS = 6
"""Variants of candidates that are fitted in one round, for the same reason."""
MAX_CANDIDATES = 24
"""Beyond this number the best cross-validation score is mostly selection bias."""
DETERMINISTIC_VARIANTS = 4
"""Variants per round of a deterministic session, which has no clock."""
MIN_ROUND_S = 0.6
"""Minimal time of a round: in less, starting the cells takes longer than the fits."""
REFIT_RATIO = 1.3
"""A fit on all rows relative to a fit on the training rows of one fold."""
MAX_CHEAP_SHARE = 0.5
"""Share of the remaining time up to which a round is cheap enough for all candidates."""
MAX_USED_SHARE = 0.9
"""Share of the remaining time that a round may plan with, since fits do not end at the same moment."""


@dataclass(frozen=True)
class FoldRequest:
    """Missing folds to fit of each candidate. An empty `folds` asks for a refit on all rows."""

    models: list[str]
    folds: list[int]


@dataclass(frozen=True)
class VariantRequest:
    """`count` variants of these candidates to fit, on these folds."""

    models: list[str]
    folds: list[int]
    count: int


@dataclass(frozen=True)
class TuningState:
    """The candidates with their ensemble weights, and the remaining time.

    `fold_order`: the folds in the order in which they are fitted. `time_left_s`: for fits, `fit_slots` at a
    time; None counts rounds only.
    """

    fits: Sequence[FitSummary]
    weights: Mapping[str, float]
    fold_order: Sequence[int]
    time_left_s: float | None
    fit_slots: int
    completed_rounds: int = 0
    is_single_model: bool = False
    is_time_ordered: bool = False
    """Rows are ordered in time, so weighted candidates are refitted on all rows, the latest included."""

    @property
    def candidates(self) -> list[FitSummary]:
        return [fit for fit in self.fits if fit.estimator not in REFERENCES and fit.score is not None]

    @property
    def references(self) -> list[FitSummary]:
        """The candidates that the others are compared with, on whatever folds those have."""
        return [fit for fit in self.fits if fit.estimator in REFERENCES and fit.score is not None]

    @property
    def weighted_candidates(self) -> list[FitSummary]:
        """The candidates that get more fits, by descending weight; the two best by score for a single model.

        The three best by score where no candidate has weight: one fold may give all of it to a reference, by
        luck, and is no reason to stop.
        """
        candidates = self.candidates
        weighted = [fit for fit in candidates if self.weights.get(fit.name, 0.0) >= MIN_WEIGHT]
        if weighted and not self.is_single_model:
            return sorted(weighted, key=lambda fit: -self.weights[fit.name])[:MAX_WEIGHTED_CANDIDATES]
        sign = -1 if candidates and candidates[0].greater_is_better else 1
        best = sorted(candidates, key=lambda fit: sign * (fit.score or 0.0))
        return best[: 2 if self.is_single_model else 3]


def next_round(state: TuningState) -> FoldRequest | VariantRequest | None:
    """Choose the next round of fits; None if the remaining time is too short for a useful one."""
    weighted = state.weighted_candidates
    if not weighted or (state.time_left_s is not None and state.time_left_s < MIN_ROUND_S):
        return None
    return (
        # Weights that one fold gave are uncertain, so folds come before variants of the weighted candidates.
        _plan_refits(state, weighted)
        or _plan_folds(state, weighted)
        or _plan_references(state)
        or _plan_variants(state, weighted)
    )


def _plan_refits(state: TuningState, weighted: Sequence[FitSummary]) -> FoldRequest | None:
    if not state.is_time_ordered:
        return None
    plain = [
        fit for fit in state.references if fit.name == PLAIN and state.weights.get(PLAIN, 0.0) >= MIN_WEIGHT
    ]
    waiting = [fit for fit in (*weighted, *plain) if not fit.refitted]
    for count in range(len(waiting), 0, -1):
        jobs = [REFIT_RATIO * fit.seconds_per_fold for fit in waiting[:count]]
        if (
            state.time_left_s is None
            or estimate_makespan_s(jobs, state.fit_slots) <= MAX_USED_SHARE * state.time_left_s
        ):
            return FoldRequest([fit.name for fit in waiting[:count]], [])
    return None


def _plan_folds(state: TuningState, weighted: Sequence[FitSummary]) -> FoldRequest | None:
    """Request missing folds: of all candidates if that is cheap, because weights from one fold are uncertain;
    else of the weighted ones."""
    candidates = weighted if state.is_single_model else state.candidates
    missing = _missing_folds(state, candidates)
    if missing and _is_affordable(state, candidates, missing, MAX_CHEAP_SHARE):
        return _request_folds(state, candidates, missing)
    missing = _missing_folds(state, weighted)
    for count in range(len(missing), 0, -1):
        if _is_affordable(state, weighted, missing[:count], MAX_USED_SHARE):
            return _request_folds(state, weighted, missing[:count])
    for count in range(len(weighted) - 1, 0, -1):
        if missing and _is_affordable(state, weighted[:count], missing[:1], MAX_USED_SHARE):
            return _request_folds(state, weighted[:count], missing[:1])
    return None


def _request_folds(state: TuningState, fits: Sequence[FitSummary], folds: Sequence[int]) -> FoldRequest:
    """Request folds, of the references too: a candidate without a fold of the others is not compared."""
    return FoldRequest([fit.name for fit in (*fits, *state.references)], list(folds))


def _plan_references(state: TuningState) -> FoldRequest | None:
    """Request the folds that candidates have and references lack, because a round left them out."""
    fitted = {fold for fit in state.candidates for fold in fit.fitted_folds}
    missing = [fold for fold in _missing_folds(state, state.references) if fold in fitted]
    if missing and _is_affordable(state, state.references, missing, MAX_USED_SHARE):
        return FoldRequest([fit.name for fit in state.references], missing)
    return None


def _missing_folds(state: TuningState, fits: Sequence[FitSummary]) -> list[int]:
    return [fold for fold in state.fold_order if any(fold not in fit.fitted_folds for fit in fits)]


def _is_affordable(state: TuningState, fits: Sequence[FitSummary], folds: Sequence[int], share: float) -> bool:
    if state.time_left_s is None:
        return True
    jobs = [fit.seconds_per_fold for fit in fits for fold in folds if fold not in fit.fitted_folds]
    return estimate_makespan_s(jobs, state.fit_slots) <= share * state.time_left_s


def _plan_variants(state: TuningState, weighted: Sequence[FitSummary]) -> VariantRequest | None:
    """Request variants on all folds: selected on a single fold, the luckiest variant would win."""
    if len(state.candidates) >= MAX_CANDIDATES or _missing_folds(state, weighted):
        return None
    bases = weighted[:3]
    models, folds = [fit.name for fit in bases], list(state.fold_order)
    if state.time_left_s is None:
        return VariantRequest(models, folds, DETERMINISTIC_VARIANTS)
    variant_s = len(folds) * sum(fit.seconds_per_fold for fit in bases) / len(bases)
    if variant_s > MAX_USED_SHARE * state.time_left_s:
        return None
    count = int(MAX_USED_SHARE * state.time_left_s * state.fit_slots / max(variant_s, 1e-3))
    return VariantRequest(models, folds, min(max(count, 1), MAX_VARIANTS))


def estimate_makespan_s(jobs: Sequence[float], fit_slots: int) -> float:
    """Return the seconds until all jobs end, scheduled longest first on the fit slots."""
    ends = [0.0] * max(fit_slots, 1)
    for job in sorted(jobs, reverse=True):
        ends[ends.index(min(ends))] += job
    return max(ends)
