"""Fits after the first round: further folds, and tuning of hyperparameters."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from math import prod
from typing import Annotated, Any, Literal

from pydantic import Field

from app.errors import ToolRefused
from app.modeling.facts.conversion import parse_facts
from app.modeling.facts.fits import CandidateFit, FitSummary, merge_parts
from app.sandbox.exchange.contract import Computation
from app.sessions.step_scope import CallResult, Fit
from app.tools.context.tool_context import ToolContext
from app.tools.data.computed_facts import Proposals, ProposedCandidate
from app.tools.data.frames import find_training_frame
from app.tools.fits.evaluation import EVALUATOR, ModelNames
from app.tools.fits.fit_parts import load_parts, read_part
from app.tools.fits.fit_rounds import (
    ignores_clock,
    make_fit,
    run_round,
    time_left_s,
    time_shares_s,
)
from app.tools.fits.training import Fold, Folds, check_run
from app.tools.registry import tool

MoreFolds = Annotated[
    list[Fold] | None,
    Field(description="Which folds to fit where they lack them, from 0; null: all.", max_length=20),
]
FOLD_TIME_FACTOR = 1.6
"""Time limit of a further fold, as a multiple of the mean time of the fitted folds."""
MAX_CHUNK_S = 2.0
"""Expected seconds up to which folds share one job, since each job reads the frame again."""
DETERMINISTIC_CHUNK = 4
"""Folds of one job in a deterministic session, where measured times must not decide."""


@tool(agents=EVALUATOR)
async def add_folds(ctx: ToolContext, models: ModelNames, folds: MoreFolds = None) -> CallResult:
    """Fit further folds of candidates, as their first one was fitted; a candidate's model is then the mean of
    its folds' models. Give those that carry weight, and as many folds as the time allows.

    Where rows are ordered in time, `folds` [] fits them once more on all rows: that is then their model.
    """
    raw = await find_training_frame(ctx, "train")
    requests: list[tuple[CandidateFit, list[int]]] = []
    for model in dict.fromkeys(models):
        fit = merge_parts([part.fit for part in await load_parts(ctx, model)])
        check_run(folds, fit.folds)
        size = DETERMINISTIC_CHUNK if ignores_clock(ctx) else folds_within(MAX_CHUNK_S, fit)
        requests += [(fit, run) for run in missing_runs(fit, folds, size)]
    if not requests:
        raise ToolRefused("These candidates are already fitted on all these folds.")
    left_s = await time_left_s(ctx)
    shares = time_shares_s(ctx, left_s, [fit.estimator for fit, _ in requests])
    fits = [
        # At least what its folds took before: a smaller share would make this fold a weaker model.
        _make_fold_fit(ctx, raw.digest, fit, run, max(share, _expected_time_s(fit, run)))
        for (fit, run), share in zip(requests, shares, strict=True)
    ]
    return await run_round(ctx, fits, left_s)


@tool(agents=EVALUATOR)
async def tune_hyperparameters(
    ctx: ToolContext,
    models: ModelNames,
    param_grid: dict[str, Annotated[list[Any], Field(min_length=1, max_length=50)]] | None = None,
    cv: Annotated[int, Field(ge=2, le=20)] | None = None,
    most: Annotated[int, Field(ge=1, le=24)] = 12,
    folds: Folds = None,
    search: Literal["random", "grid"] = "random",
) -> CallResult:
    """One round of tuning, starting from the best of these candidates: new hyperparameters are drawn from
    `param_grid` (or from each estimator's own space), as many as the time left allows, and fitted. `search`
    grid fits every combination of `param_grid`, at most 24."""
    if search == "grid":
        _check_grid(param_grid)
    bases = [
        merge_parts([part.fit for part in await load_parts(ctx, model)]) for model in dict.fromkeys(models)
    ]
    plan = bases[0].folds
    fold_count = len(folds) if folds is not None else plan.count
    # All cost the same where counts decide: as many are drawn as the round may have.
    bases = [
        replace(fit, fit_s=1.0 if ignores_clock(ctx) else fit.seconds_per_fold * fold_count) for fit in bases
    ]
    check_run(folds, plan)
    existing_fits = [read_part(ref).fit for ref in await ctx.frames.artifacts("model")]
    left_s = await time_left_s(ctx)
    params: dict[str, Any] = {
        "fits": [fit.to_json() for fit in bases],
        "tried": [
            {
                "estimator": fit.estimator,
                "hyperparameters": dict(fit.hyperparameters),
                "recipe": fit.recipe,
            }
            for fit in existing_fits
        ],
        "budget_s": 2.0 * most if ignores_clock(ctx) else left_s * ctx.training.fit_slots,
        # Another seed for each round, so that it draws other hyperparameters than those before.
        "seed": ctx.session.seed + len(existing_fits),
        "most": most,
        "param_grid": param_grid,
        **({"search": search} if search == "grid" else {}),
    }
    computed = await ctx.computer.run(Computation("models.train.propose_candidates", params), {})
    proposals = parse_facts(Proposals, computed.value).candidates
    if not proposals:
        raise ToolRefused(f"No further fit would finish in the remaining {left_s:.0f} s.")
    raw = await find_training_frame(ctx, "train")
    names = _name_proposals(proposals, [fit.name for fit in existing_fits])
    shares = time_shares_s(ctx, left_s, [proposal.estimator for proposal in proposals])
    fits = [
        make_fit(
            ctx,
            raw.digest,
            plan if cv is None else replace(plan, count=cv),
            share,
            run=folds,
            name=name,
            estimator=proposal.estimator,
            hyperparameters=dict(proposal.hyperparameters),
            recipe=proposal.recipe,
        )
        for proposal, name, share in zip(proposals, names, shares, strict=True)
    ]
    return await run_round(ctx, fits, left_s)


MAX_GRID_COMBINATIONS = 24
"""Combinations of one exhaustive search: as many candidates as one round of fits may have."""


def _check_grid(param_grid: Mapping[str, Sequence[Any]] | None) -> None:
    """Raise ToolRefused for an exhaustive search without a grid, or with too many combinations."""
    if not param_grid:
        raise ToolRefused("A grid search needs `param_grid`.", kind="invalid_arguments", field="param_grid")
    combinations = prod(len(values) for values in param_grid.values())
    if combinations > MAX_GRID_COMBINATIONS:
        raise ToolRefused(
            f"The grid has {combinations} combinations, and a round fits at most {MAX_GRID_COMBINATIONS}: "
            "name fewer values, or search at random.",
            kind="invalid_arguments",
            field="param_grid",
        )


def missing_runs(fit: FitSummary, folds: Sequence[int] | None, size: int) -> Iterator[list[int]]:
    """The folds that a candidate lacks, in jobs of at most `size`; [] is one job on all rows."""
    if folds == []:
        yield from [] if fit.refitted else [[]]
        return
    requested = range(fit.folds.count) if folds is None else folds
    missing = [fold for fold in dict.fromkeys(requested) if fold not in fit.fitted_folds]
    for start in range(0, len(missing), size):
        yield missing[start : start + size]


def folds_within(seconds: float, fit: FitSummary) -> int:
    """Folds of a candidate that are fitted in so many seconds, at least 1."""
    return max(1, int(seconds / max(fit.seconds_per_fold, 1e-3)))


def _expected_time_s(fit: FitSummary, run: Sequence[int]) -> float:
    return FOLD_TIME_FACTOR * fit.seconds_per_fold * max(len(run), 1)


def _make_fold_fit(ctx: ToolContext, digest: str, fit: CandidateFit, run: list[int], limit_s: float) -> Fit:
    return make_fit(
        ctx,
        digest,
        fit.folds,
        limit_s,
        run=run,
        name=fit.name,
        estimator=fit.estimator,
        hyperparameters=dict(fit.hyperparameters),
        recipe=fit.recipe,
        # What early stopping chose on the first folds stays, or the folds would be different models.
        settings=dict(fit.settings),
    )


def _name_proposals(proposals: Sequence[ProposedCandidate], existing_names: Sequence[str]) -> list[str]:
    """Make an unused name for each proposal: its estimator's with a number."""
    names: list[str] = []
    for proposal in proposals:
        used_names = {*existing_names, *names}
        names.append(next(name for n in count(1) if (name := f"{proposal.estimator}-t{n}") not in used_names))
    return names
