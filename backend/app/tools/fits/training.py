"""Tools of the trainer: fit candidates with cross-validation."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from app.errors import ToolRefused
from app.modeling.facts.computation_facts import RecipeJson
from app.modeling.problem.folds import FoldPlan
from app.modeling.problem.kinds import BASELINE
from app.sessions.step_scope import CallResult
from app.tools.context.tool_context import ToolContext
from app.tools.data.frames import find_training_frame
from app.tools.fits.custom_code import add_sources
from app.tools.fits.fit_parts import read_part
from app.tools.fits.fit_rounds import (
    Candidate,
    free_name,
    make_fit,
    name_candidates,
    run_round,
    time_left_s,
    time_shares_s,
)
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

    Estimators: baseline, LightGBM, LogisticRegression, XGBoost, LightGBMExtra, Network, RandomForest,
    GradientBoosting, CatBoost where it is installed, and custom estimators by name.
    A candidate that fails or exceeds its time is left out and reported.
    """
    return await _train(ctx, "classification", frame, candidates, folds)


@tool(agents=TRAINER)
async def train_regression_model(
    ctx: ToolContext, frame: FrameName, candidates: Candidates, folds: Folds = None
) -> CallResult:
    """Fit regressors on a frame in parallel, each evaluated by cross-validation.

    Estimators: baseline, LightGBM, Ridge, XGBoost, LightGBMExtra, Network, RandomForest, GradientBoosting,
    CatBoost where it is installed, and custom estimators by name. `on_log` true in the hyperparameters fits the
    logarithm of the target.
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
    candidates, unplanned = split_by_plan(ctx, candidates)
    source = await find_training_frame(ctx, frame)
    candidates = await add_sources(ctx, candidates)
    check_run(run, folds)
    left_s = await time_left_s(ctx)
    # Parts of one name are blended as one model, so a name must stand for one set of settings.
    unique = await _name_apart(ctx, name_candidates(candidates), source.recipe)
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
        for (name, candidate), limit_s in zip(unique, limits_s, strict=True)
    ]
    return await run_round(ctx, fits, left_s, unplanned)


async def _name_apart(
    ctx: ToolContext, candidates: Sequence[tuple[str, Candidate]], recipe: RecipeJson
) -> list[tuple[str, Candidate]]:
    """Give a candidate another name where a different one has it: fits of one name are parts of one model."""
    fitted = {ref.name: read_part(ref).fit for ref in await ctx.frames.artifacts("model")}
    names: list[str] = []
    for name, candidate in candidates:
        fit = fitted.get(name)
        is_same = fit is not None and (fit.estimator, dict(fit.hyperparameters), list(fit.recipe)) == (
            candidate.estimator,
            candidate.hyperparameters,
            list(recipe),
        )
        names.append(name if fit is None or is_same else free_name(name, [*fitted, *names]))
    return [(name, candidate) for name, (_, candidate) in zip(names, candidates, strict=True)]


def split_by_plan(ctx: ToolContext, candidates: Sequence[Candidate]) -> tuple[list[Candidate], dict[str, str]]:
    """Return the candidates of planned families, and the names of the others with the reason to leave them out.

    Raises ToolRefused if none but the baseline is left.
    """
    planned = ctx.training.families
    if not planned:
        return [*candidates], {}
    allowed = [candidate for candidate in candidates if candidate.estimator in (*planned, BASELINE)]
    reason = f"The plan fits {', '.join(planned)} only, and the {BASELINE}."
    unplanned = {c.name or c.estimator: reason for c in candidates if c not in allowed}
    # A round with nothing but the baseline would seem to succeed, and the agent would not correct it.
    if unplanned and all(candidate.estimator == BASELINE for candidate in allowed):
        raise ToolRefused(f"{reason} Not {' or '.join(unplanned)}.")
    return allowed, unplanned


def check_run(run: Sequence[int] | None, folds: FoldPlan) -> None:
    """Raise ToolRefused for a fold that does not exist."""
    unknown = [fold for fold in run or () if fold >= folds.count]
    if unknown:
        raise ToolRefused(f"There are {folds.count} folds, from 0; there is no fold {unknown[0]}.")
