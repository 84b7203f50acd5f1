"""Tools of the trainer: fit candidates with cross-validation."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from app.errors import ToolRefused
from app.modeling.problem.folds import FoldPlan
from app.modeling.problem.kinds import BASELINE
from app.sessions.step_scope import CallResult
from app.tools.context import ToolContext
from app.tools.custom_code import add_sources
from app.tools.fit_rounds import Candidate, make_fit, name_candidates, run_round, time_left_s, time_shares_s
from app.tools.frames import find_training_frame
from app.tools.registry import FrameName, tool

TRAINER = ("model_trainer",)

Candidates = Annotated[list[Candidate], Field(min_length=1, max_length=24)]
Fold = Annotated[int, Field(ge=0, le=19)]
Folds = Annotated[
    list[Fold] | None,
    Field(
        description="Which folds to fit, from 0; null: all. One fold of every candidate first, and more "
        "of those that carry weight, makes the most of the time.",
        min_length=1,
        max_length=20,
    ),
]


@tool(agents=TRAINER)
async def train_classification_model(
    ctx: ToolContext, frame: FrameName, candidates: Candidates, folds: Folds = None
) -> CallResult:
    """Fit classifiers on a frame in parallel, each evaluated by cross-validation.

    Estimators: baseline, ESTIMATORS, and custom estimators by name.
    A candidate that fails or exceeds its time is left out and reported.
    """
    return await _train(ctx, "classification", frame, candidates, folds)


@tool(agents=TRAINER)
async def train_regression_model(
    ctx: ToolContext, frame: FrameName, candidates: Candidates, folds: Folds = None
) -> CallResult:
    """Fit regressors on a frame in parallel, each evaluated by cross-validation.

    Estimators: baseline, ESTIMATORS, and custom estimators by name.
    A candidate that fails or exceeds its time is left out and reported.
    """
    return await _train(ctx, "regression", frame, candidates, folds)


@tool(agents=TRAINER)
async def cross_validate_model(
    ctx: ToolContext,
    frame: FrameName,
    candidate: Candidate,
    folds: Annotated[int, Field(ge=2, le=20)] = 5,
) -> CallResult:
    """Evaluate one candidate by cross-validation with another number of folds."""
    return await _fit_round(ctx, frame, [candidate], replace(ctx.training.folds, count=folds), None)


async def _train(
    ctx: ToolContext, kind: str, frame: str, candidates: Sequence[Candidate], folds: list[int] | None
) -> CallResult:
    problem_kind = ctx.training.problem.kind
    if problem_kind != kind:
        raise ToolRefused(f"The problem is {problem_kind}: call train_{problem_kind}_model.")
    return await _fit_round(ctx, frame, candidates, ctx.training.folds, folds)


async def _fit_round(
    ctx: ToolContext, frame: str, candidates: Sequence[Candidate], folds: FoldPlan, run: list[int] | None
) -> CallResult:
    check_families(ctx, [candidate.estimator for candidate in candidates])
    source = await find_training_frame(ctx, frame)
    candidates = await add_sources(ctx, candidates)
    check_run(run, folds)
    left_s = await time_left_s(ctx)
    limits_s = time_shares_s(ctx, left_s, [candidate.estimator for candidate in candidates])
    fits = [
        make_fit(
            ctx,
            source.digest,
            folds,
            limit_s,
            name=name,
            estimator=candidate.estimator,
            hyperparameters=candidate.hyperparameters,
            recipe=source.recipe,
            run=run,
        )
        for (name, candidate), limit_s in zip(name_candidates(candidates), limits_s, strict=True)
    ]
    return await run_round(ctx, fits, left_s)


def check_families(ctx: ToolContext, estimators: Sequence[str]) -> None:
    """Raise ToolRefused for an estimator that is not in the plan."""
    planned = ctx.training.families
    unplanned = next((name for name in estimators if planned and name not in (*planned, BASELINE)), None)
    if unplanned is not None:
        raise ToolRefused(f"The plan fits {', '.join(planned)} only, and the {BASELINE}; not {unplanned}.")


def check_run(run: Sequence[int] | None, folds: FoldPlan) -> None:
    """Raise ToolRefused for a fold that does not exist."""
    unknown = [fold for fold in run or () if fold >= folds.count]
    if unknown:
        raise ToolRefused(f"There are {folds.count} folds, from 0; there is no fold {unknown[0]}.")
