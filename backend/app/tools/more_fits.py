"""Fits after the first round: further folds, and tuning of hyperparameters."""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Annotated, Any

from pydantic import Field

from app.errors import ToolRefused
from app.sandbox.contract import Computation
from app.sessions.step_scope import CallResult, Fit
from app.tools.choosing import EVALUATOR, ModelNames
from app.tools.context import ToolContext
from app.tools.fit_parts import fitted_folds, load_parts, merge_parts
from app.tools.frames import find_training_frame
from app.tools.modeling import Fold, Folds, check_run
from app.tools.registry import tool
from app.tools.rounds import (
    ignores_clock,
    make_fit,
    run_round,
    select_spec,
    time_left_s,
    time_shares_s,
)

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
    requests: list[tuple[dict[str, Any], list[int]]] = []
    for model in dict.fromkeys(models):
        parts = [part.facts for part in await load_parts(ctx, model)]
        facts = merge_parts(parts)
        check_run(folds, facts["folds"])
        size = DETERMINISTIC_CHUNK if ignores_clock(ctx) else folds_within(MAX_CHUNK_S, facts)
        requests += [
            ({**facts, "settings": parts[0].get("settings")}, run) for run in missing_runs(facts, folds, size)
        ]
    if not requests:
        raise ToolRefused("These candidates are already fitted on all these folds.")
    left_s = await time_left_s(ctx)
    shares = time_shares_s(ctx, left_s, [facts["estimator"] for facts, _ in requests])
    fits = [
        _make_fold_fit(ctx, raw.digest, facts, run, max(share, _expected_time_s(facts, run)))
        for (facts, run), share in zip(requests, shares, strict=True)
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
) -> CallResult:
    """One round of tuning, starting from the best of these candidates: new hyperparameters are drawn from
    `param_grid` (or from each estimator's own space), as many as the time left allows, and fitted."""
    bases = [
        merge_parts([part.facts for part in await load_parts(ctx, model)]) for model in dict.fromkeys(models)
    ]
    share = len(folds) if folds is not None else int(bases[0]["folds"]["count"])
    # All cost the same where counts decide: as many are drawn as the round may have.
    bases = [{**facts, "fit_s": 1.0 if ignores_clock(ctx) else fold_time_s(facts) * share} for facts in bases]
    check_run(folds, bases[0]["folds"])
    existing_fits = [ref.meta["fit"] for ref in await ctx.frames.artifacts("model")]
    left_s = await time_left_s(ctx)
    params: dict[str, Any] = {
        "fits": bases,
        "tried": [
            {key: fit[key] for key in ("estimator", "hyperparameters", "recipe")} for fit in existing_fits
        ],
        "budget_s": 2.0 * most if ignores_clock(ctx) else left_s * ctx.training.fit_slots,
        "seed": ctx.session.seed + len(existing_fits),
        "most": most,
        "param_grid": param_grid,
    }
    computed = await ctx.computer.run(Computation("train.propose_candidates", params), {})
    proposed: Any = computed.value
    if not proposed["candidates"]:
        raise ToolRefused(f"No further fit would finish in the remaining {left_s:.0f} s.")
    plan = bases[0]["folds"] if cv is None else {**bases[0]["folds"], "count": cv}
    raw = await find_training_frame(ctx, "train")
    used_names = [fit["name"] for fit in existing_fits]
    specs = list(_name_proposals(proposed["candidates"], used_names))
    shares = time_shares_s(ctx, left_s, [spec["estimator"] for spec in specs])
    fits = [
        make_fit(ctx, raw.digest, plan, share, run=folds, **spec)
        for spec, share in zip(specs, shares, strict=True)
    ]
    return await run_round(ctx, fits, left_s)


def missing_runs(facts: dict[str, Any], folds: Sequence[int] | None, size: int) -> Iterator[list[int]]:
    """The folds that a candidate lacks, in jobs of at most `size`; [] is one job on all rows."""
    if folds == []:
        yield from [] if facts["refitted"] else [[]]
        return
    requested = range(int(facts["folds"]["count"])) if folds is None else folds
    missing = [fold for fold in dict.fromkeys(requested) if fold not in fitted_folds(facts)]
    for start in range(0, len(missing), size):
        yield missing[start : start + size]


def folds_within(seconds: float, facts: dict[str, Any]) -> int:
    """Folds of a candidate that are fitted in so many seconds, at least 1."""
    return max(1, int(seconds / max(fold_time_s(facts), 1e-3)))


def fold_time_s(facts: dict[str, Any]) -> float:
    """Return the expected seconds of one more fold."""
    return float(facts["fit_s"]) / max(len(fitted_folds(facts)), 1)


def _expected_time_s(facts: dict[str, Any], run: Sequence[int]) -> float:
    return FOLD_TIME_FACTOR * fold_time_s(facts) * max(len(run), 1)


def _make_fold_fit(ctx: ToolContext, digest: str, facts: dict[str, Any], run: list[int], limit_s: float) -> Fit:
    spec = {key: facts[key] for key in ("name", "estimator", "hyperparameters", "recipe", "settings")}
    return make_fit(ctx, digest, facts["folds"], limit_s, run=run, **spec)


def _name_proposals(proposed: Sequence[dict[str, Any]], used_names: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the proposals under unused names: the estimator's with a number."""
    for proposal in proposed:
        name = next(name for n in count(1) if (name := f"{proposal['estimator']}-t{n}") not in used_names)
        used_names.append(name)
        yield {**select_spec(proposal), "name": name}
