"""Explanation of the chosen model after its evaluation. No agent calls it: nothing is selected by it."""

from typing import Any

from app.errors import ToolRefused
from app.modeling.facts.conversion import parse_facts
from app.sandbox.computation_runner import ComputationFailed
from app.sandbox.exchange.contract import Computation, Limits
from app.sessions.step_scope import CallResult
from app.tools.context.preferences import DEFAULT_BUDGET_S
from app.tools.context.recorded_clock import recorded_work_s
from app.tools.context.stage_limits import FINAL_DRAWING_SHARE, share_of
from app.tools.context.tool_context import ToolContext
from app.tools.data.computed_facts import ExplanationSummary, json_object
from app.tools.data.frames import figure_artifacts
from app.tools.fits.fit_parts import load_model
from app.tools.registry import tool

HOLDOUT = "holdout"
BUDGET_SHARE, DRIVERS_BUDGET_SHARE = 0.05, 0.2
"""Share of the time budget that an explanation may take, and where the goal asks for the drivers."""
MIN_S, MAX_S = 1.2, 20.0
"""Bounds of the measuring time in seconds: below, importances are noise; above, they hardly improve."""
MAX_DRIVERS_S = 60.0
"""Upper bound in seconds where the goal asks for the drivers: their intervals are the answer."""
OVERHEAD_S, MIN_LATE_S = 1.6, 0.3
"""Seconds to reserve for loading and drawing, and seconds to measure in if the session is late."""
MAX_OVERHEAD_S = 30.0
"""Seconds added to the cell's limit for loading and drawing on a slow machine."""


@tool(agents=())
async def explain_model(ctx: ToolContext, model: str) -> CallResult:
    """Explain the model on the hold-out: importance, partial dependence, SHAP values and error segments."""
    part = await load_model(ctx, model)
    holdout = await ctx.frames.artifact(HOLDOUT, HOLDOUT)
    limit_s, drawing_s = await explanation_limits_s(ctx)
    params: dict[str, Any] = {"seed": ctx.session.seed, "limit_s": limit_s, "draw_s": drawing_s}
    work = Computation("models.explain.explain_model", params, trusted=not part.contains_code)
    limits = None if limit_s is None else Limits(time_s=limit_s + MAX_OVERHEAD_S)
    try:
        computed = await ctx.computer.run(work, {HOLDOUT: holdout.digest, "model": part.model}, limits)
    except ComputationFailed as failed:
        # The session keeps its model and score if the explanation fails.
        raise ToolRefused(f"{model} could not be explained: {failed.detail}") from failed
    explanation = parse_facts(ExplanationSummary, computed.value)
    return CallResult(
        value={**json_object(computed), "model": model, "wants_drivers": ctx.training.wants_drivers},
        summary=_summary(model, explanation),
        artifacts=figure_artifacts(computed, explanation.figures),
    )


async def explanation_limits_s(ctx: ToolContext) -> tuple[float | None, float | None]:
    """Return the seconds to measure in, a share of the budget and at most what is left before the report, and
    those to draw in.

    None for deterministic sessions, which are limited by counts.
    """
    if ctx.preferences.deterministic:
        return None, None
    budget_s = ctx.preferences.time_budget_s or DEFAULT_BUDGET_S
    left_s = ctx.training.deadline_s - await recorded_work_s(ctx.step, ctx.call) - OVERHEAD_S
    share, max_s = (
        (DRIVERS_BUDGET_SHARE, MAX_DRIVERS_S) if ctx.training.wants_drivers else (BUDGET_SHARE, MAX_S)
    )
    # The time left bounds the rest: even MIN_S is not taken from the report.
    limit_s = round(min(max(share * budget_s, MIN_S), max_s, max(left_s, MIN_LATE_S)), 3)
    # With the reserve, a part of which was kept for drawing.
    return limit_s, share_of(max(left_s + OVERHEAD_S, 0.0), FINAL_DRAWING_SHARE)


def _summary(model: str, explanation: ExplanationSummary) -> str:
    drivers = explanation.drivers
    leading = " and ".join(", ".join(driver.columns) for driver in drivers.drivers[: drivers.leaders])
    relied = (
        "No column has a significant importance."
        if not leading
        else f"{model} relies most on {leading}."
        if drivers.is_first_clear
        else f"{model} relies on {leading}; the rows do not tell which column matters most."
    )
    worst = explanation.segments.worst if explanation.segments else ()
    where = f" The error is largest where {worst[0].column} {worst[0].text}." if worst else ""
    return f"{relied}{where}"
