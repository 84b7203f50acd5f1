"""Fits as values: the parts of `computation_facts.FitFacts` that later steps read, and the merging of parts."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar

from app.modeling.facts.computation_facts import ProblemJson, RecipeJson
from app.modeling.facts.conversion import dump_facts, parse_facts
from app.modeling.problem.folds import FoldPlan


@dataclass(frozen=True, kw_only=True)
class FitSummary:
    """The scores and seconds of one fit, or of all parts of a candidate. Parts differ in their folds."""

    name: str
    estimator: str
    hyperparameters: Mapping[str, Any] = field(default_factory=dict)
    metric: str
    greater_is_better: bool = True
    score: float | None = None
    std: float | None = None
    fold_scores: Sequence[float | None] = ()
    """One score for every fold of the plan, None for a fold that was not run."""
    fold_count: int = 0
    folds: FoldPlan
    fit_s: float
    limited: str | None = None
    is_cut: bool = False
    """True if its time ended while its loss still fell."""
    learned_share: float = 1.0
    """Share of the training rows that it learned from."""
    run: Sequence[int] | None = None
    """Folds that were fitted; empty for a fit on all rows. None, in facts that record no folds: all of them."""
    refitted: bool = False
    """True if a part was fitted on all rows, without a fold."""

    @property
    def fitted_folds(self) -> list[int]:
        return list(range(self.folds.count)) if self.run is None else list(self.run)

    @property
    def seconds_per_fold(self) -> float:
        """The measured seconds per fold, reading and writing included."""
        return self.fit_s / max(len(self.fitted_folds), 1)

    def to_json(self) -> dict[str, Any]:
        return dump_facts(self)


@dataclass(frozen=True, kw_only=True)
class FittedSpec:
    """A candidate as it was fitted. `settings`: hyperparameters that early stopping chose. `fit_s`: seconds of
    its `fold_count` fitted folds together."""

    name: str = ""
    estimator: str
    hyperparameters: Mapping[str, Any] = field(default_factory=dict)
    recipe: RecipeJson = field(default_factory=list)
    settings: Mapping[str, Any] = field(default_factory=dict)
    fit_s: float = 0.0
    fold_count: int = 0

    @property
    def seconds_per_fold(self) -> float:
        """The measured seconds per fold, reading and writing included."""
        return self.fit_s / max(self.fold_count, 1)


@dataclass(frozen=True, kw_only=True)
class CandidateFit(FitSummary):
    """All facts of a fit that computations read. `members`, `weights` and `candidates`: of an ensemble."""

    recipe: RecipeJson = field(default_factory=list)
    settings: Mapping[str, Any] = field(default_factory=dict)
    fold_s: Sequence[float] = ()
    rows: int = 0
    threshold: float | None = None
    calibration: Mapping[str, Any] | None = None
    prediction_intervals: Mapping[str, Any] | None = None
    weights: Mapping[str, float] | None = None
    schema: Sequence[Mapping[str, Any]] = ()
    """Raw input columns of the model, see `SchemaColumn`."""
    problem: ProblemJson = field(default_factory=dict)
    members: Sequence[Mapping[str, Any]] | None = None
    candidates: Sequence[FittedSpec] | None = None
    document: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """The JSON that the fit was read from, with the keys that only its report and its model need."""

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Raises InvalidInput `bad_facts`."""
        return replace(parse_facts(cls, document), document=document)

    @property
    def is_ensemble(self) -> bool:
        return self.members is not None

    def to_json(self) -> dict[str, Any]:
        """Return the document, with the facts that merging changes."""
        return {
            **self.document,
            "run": self.fitted_folds,
            "refitted": self.refitted,
            "fold_scores": list(self.fold_scores),
            "fold_count": self.fold_count,
            "score": self.score,
            "std": self.std,
            "fit_s": self.fit_s,
            "fold_s": list(self.fold_s),
            "limited": self.limited,
            "is_cut": self.is_cut,
            "learned_share": self.learned_share,
        }


Fit = TypeVar("Fit", bound=FitSummary)


def merge_parts(parts: Sequence[Fit]) -> Fit:
    """Merge the parts of a candidate: scores by fold, their mean and deviation, and total seconds."""
    first = parts[0]
    refitted = any(part.refitted or part.fitted_folds == [] for part in parts)
    if len(parts) == 1:
        return replace(first, run=first.fitted_folds, refitted=refitted)
    scores = _scores_by_fold(parts)
    finite_scores = [score for score in scores if score is not None]
    merged = replace(
        first,
        run=[fold for part in parts for fold in part.fitted_folds],
        refitted=refitted,
        fold_scores=scores,
        fold_count=len(finite_scores),
        score=statistics.fmean(finite_scores) if finite_scores else None,
        std=statistics.stdev(finite_scores) if len(finite_scores) > 1 else None,
        fit_s=round(sum(part.fit_s for part in parts), 4),
        limited=next((part.limited for part in parts if part.limited), None),
        is_cut=any(part.is_cut for part in parts),
        # The least share, so that a candidate never claims more rows than all of its parts had.
        learned_share=min(part.learned_share for part in parts),
    )
    if isinstance(merged, CandidateFit):
        fold_s = [seconds for part in parts if isinstance(part, CandidateFit) for seconds in part.fold_s]
        return replace(merged, fold_s=fold_s)
    return merged


def _scores_by_fold(parts: Sequence[FitSummary]) -> list[float | None]:
    scores: list[float | None] = [None] * parts[0].folds.count
    for part in parts:
        for fold in part.fitted_folds:
            scores[fold] = part.fold_scores[fold]
    return scores
