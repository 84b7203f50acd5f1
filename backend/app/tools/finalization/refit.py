"""Refit of the evaluated model on all rows, for delivery. No agent calls it."""

from typing import Any

from app.errors import ToolRefused
from app.modeling.facts.conversion import parse_facts
from app.modeling.problem.kinds import BASELINE
from app.sandbox.computation_runner import ComputationFailed
from app.sandbox.exchange.contract import Computation, Limits
from app.sessions.step_scope import ArtifactDraft, CallResult
from app.tools.context.recorded_clock import recorded_work_s
from app.tools.context.tool_context import ToolContext
from app.tools.data.computed_facts import RefitOutcome, json_object
from app.tools.data.frames import find_training_frame
from app.tools.fits.evaluation import ModelName
from app.tools.fits.fit_parts import load_model
from app.tools.fits.fit_rounds import (
    MAX_DETERMINISTIC_FIT_S,
    ignores_clock,
)
from app.tools.registry import tool

MIN_REFIT_S, MAX_REFIT_OVERRUN_S = 0.8, 0.2
"""Least time left in seconds to start a refit, and the seconds by which it may exceed it."""
REFIT_THREADS = 2
"""Threads of a refit: it is the only computation of its session then, while other fits run side by side."""
NO_REFIT_SUMMARY = "There was no time to refit on all rows."


@tool(agents=())
async def refit_model(
    ctx: ToolContext, model: ModelName, by_entity: bool = False, widening: float | None = None
) -> CallResult:
    """Refit the evaluated model on all rows, including the hold-out, for delivery.

    Nothing is selected afterwards, and the score remains that of the hold-out. Without time left, the evaluated
    model is delivered. `by_entity`: rows of groups with training rows are predicted by fits that read the
    group's column. `widening`: the factor by which its intervals are wider than those of the evaluated model,
    which held too few rows of the hold-out.
    """
    part = await load_model(ctx, model)
    left_s = None if ignores_clock(ctx) else ctx.training.deadline_s - await recorded_work_s(ctx.step, ctx.call)
    # A baseline gains nothing from more rows.
    if part.fit.estimator == BASELINE or (left_s is not None and left_s < MIN_REFIT_S):
        return CallResult(value={"rows": 0, "fits": 0, "fit_s": 0.0, "model": model}, summary=NO_REFIT_SUMMARY)
    raw = await find_training_frame(ctx, "train")
    holdout = await ctx.frames.artifact("holdout", "holdout")
    params: dict[str, Any] = {
        "fit": dict(part.fit.document),
        "seed": ctx.session.seed,
        "time_limit_s": left_s,
        **({"by_entity": True} if by_entity else {}),
        # Left out where there is none, so that steps recorded before are found again by their arguments.
        **({} if widening is None else {"widening": widening}),
    }
    time_s = MAX_DETERMINISTIC_FIT_S if left_s is None else left_s + MAX_REFIT_OVERRUN_S
    limits = Limits(time_s=time_s, threads=REFIT_THREADS)
    try:
        computed = await ctx.computer.run(
            Computation("models.train.refit", params), {"train": raw.digest, "holdout": holdout.digest}, limits
        )
    except ComputationFailed as failed:
        raise ToolRefused(f"{model} could not be refitted on all rows: {failed.detail}") from failed
    rows = parse_facts(RefitOutcome, computed.value).rows
    if not rows:
        return CallResult(value={**json_object(computed), "model": model}, summary=NO_REFIT_SUMMARY)
    name = f"{model} on all rows"
    file = computed.file("model.skops")
    # Scores and out-of-fold predictions stay those of the evaluated model: here no rows are left to judge by.
    meta = {"fit": {**part.fit.document, "learned_rows": rows}, "oof": part.oof}
    return CallResult(
        value={**json_object(computed), "model": name},
        summary=f"{model} was refitted on all {rows:,} rows.",
        artifacts=[ArtifactDraft("model", name, file.media_type, file.digest, file.size_bytes, meta)],
    )
