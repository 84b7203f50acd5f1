"""Fit summaries as the state carries them, their weights and the order of their folds."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.agents.state import LeftOut
from app.modeling.facts.conversion import parse_facts
from app.modeling.facts.fits import FitSummary, merge_parts
from app.modeling.problem.folds import FoldPlan, SplitKind


def merge_fits(earlier: Iterable[FitSummary], new: Iterable[FitSummary]) -> list[FitSummary]:
    """Merge fits into one entry per candidate, in the order of first appearance."""
    parts: dict[str, list[FitSummary]] = {}
    for fit in (*earlier, *new):
        parts.setdefault(fit.name, []).append(fit)
    return [_merge_newest(fits) for fits in parts.values()]


def fold_order(folds: FoldPlan) -> list[int]:
    """Return the fold numbers in fitting order.

    With time order the latest fold comes first: it has the most history and is nearest to the predicted time.
    """
    numbers = list(range(folds.count))
    return numbers[::-1] if folds.kind is SplitKind.TIME else numbers


def ensemble_weights(candidates: Iterable[str], weights: Mapping[str, float]) -> dict[str, float]:
    """Return the ensemble weight of each candidate; 0 for candidates that the ensemble left out."""
    return {name: weights.get(name, 0.0) for name in candidates}


def _merge_newest(fits: Sequence[FitSummary]) -> FitSummary:
    """Join the fits of one candidate. The newest fit of a fold replaces older ones."""
    covered_folds: set[int] = set()
    newest_fits: list[FitSummary] = []
    for fit in reversed(fits):
        if not covered_folds.intersection(fit.fitted_folds):
            covered_folds.update(fit.fitted_folds)
            newest_fits.insert(0, fit)
    return merge_parts(newest_fits)


@dataclass(frozen=True)
class RoundFacts:
    """The value of a tool that fits a round of candidates."""

    fits: Sequence[FitSummary]
    left_out: Sequence[LeftOut] = ()


def read_rounds(values: Iterable[object]) -> RoundFacts:
    """Read the values of several rounds as one, their fits in order."""
    rounds = [parse_facts(RoundFacts, value) for value in values]
    return RoundFacts(
        [fit for facts in rounds for fit in facts.fits], [entry for facts in rounds for entry in facts.left_out]
    )
