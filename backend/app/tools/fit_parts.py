"""Parts of a candidate: fits that share its name and differ in their folds (`run`)."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.artifacts.workspace import FrameRef
from app.modeling.problem.names import resolve_name
from app.tools.context import ToolContext

PART_KIND = "part"
"""Kind of artifact: folds of a candidate fitted after its first part; not a model by itself."""

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class FitPart:
    """One fit of a candidate. `model` and `oof` are digests of the model and its out-of-fold predictions."""

    facts: Facts
    model: str
    oof: str


async def load_parts(ctx: ToolContext, model: str) -> list[FitPart]:
    """Return the parts of a candidate in order. Raises ToolRefused with the nearest names if unknown."""
    models = {ref.name: ref for ref in await ctx.frames.artifacts("model")}
    first = models[resolve_name(model, models, "model")]
    if "members" in first.meta["fit"]:
        return [_part(first)]  # an ensemble contains its parts
    later_refs = [ref for ref in await ctx.frames.artifacts(PART_KIND) if ref.meta["fit"]["name"] == first.name]
    return [_part(first), *(_part(ref) for ref in later_refs)]


def _part(ref: FrameRef) -> FitPart:
    return FitPart(ref.meta["fit"], ref.digest, str(ref.meta["oof"]))


def merge_parts(parts: Sequence[Facts]) -> dict[str, Any]:
    """Merge the facts of a candidate's parts: scores by fold, their mean and deviation, and total seconds.

    `refitted`: one of the parts was fitted on all rows, without a fold.
    """
    first = parts[0]
    refitted = any(part.get("refitted") or fitted_folds(part) == [] for part in parts)
    if len(parts) == 1:
        return {**first, "run": fitted_folds(first), "refitted": refitted}
    scores = _scores_by_fold(parts)
    finite_scores = [score for score in scores if score is not None]
    return {
        **first,
        "run": [fold for part in parts for fold in fitted_folds(part)],
        "refitted": refitted,
        "fold_scores": scores,
        "fold_count": len(finite_scores),
        "score": statistics.fmean(finite_scores) if finite_scores else None,
        "std": statistics.stdev(finite_scores) if len(finite_scores) > 1 else None,
        "fit_s": round(sum(part["fit_s"] for part in parts), 4),
        "fold_s": [seconds for part in parts for seconds in part.get("fold_s", ())],
        "limited": next((part["limited"] for part in parts if part.get("limited")), None),
    }


def fitted_folds(facts: Facts) -> list[int]:
    """Return the folds that a part was fitted on; all folds if it records none."""
    run = facts.get("run")
    return list(range(int(facts["folds"]["count"]))) if run is None else list(run)


def _scores_by_fold(parts: Sequence[Facts]) -> list[float | None]:
    scores: list[float | None] = [None] * int(parts[0]["folds"]["count"])
    for part in parts:
        for fold in fitted_folds(part):
            scores[fold] = part["fold_scores"][fold]
    return scores
