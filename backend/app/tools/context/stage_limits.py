"""Seconds that a stage may take: a share of the session's remaining time, by a recorded clock."""

from app.tools.context.preferences import DEFAULT_BUDGET_S
from app.tools.context.recorded_clock import recorded_work_s
from app.tools.context.tool_context import ToolContext

MEASUREMENT_SHARE = 0.05
"""Share of the remaining time to measure what a structure of the rows changes, on an idle machine."""
COLUMN_SHARE = 0.1
"""Share of the remaining time to score each column alone, and to measure what suspected ones bring."""
DRAWING_SHARE = 0.06
"""Share of the remaining time for the figures of one stage. A session draws in four stages, and a figure takes
0.3 to 0.8 s of a processor."""
FINAL_DRAWING_SHARE = 0.25
"""The same of the final evaluation and of the explanation, which only the report follows."""


async def remaining_s(ctx: ToolContext) -> float | None:
    """Return the seconds until the session's time budget ends; None where counts decide, not the clock."""
    if ctx.preferences.deterministic:
        return None
    budget_s = ctx.preferences.time_budget_s or DEFAULT_BUDGET_S
    return max(0.0, budget_s - ctx.thinking.working_s(await recorded_work_s(ctx.step, ctx.call)))


def share_of(left_s: float | None, share: float) -> float | None:
    """Return a share of the seconds left; None for no limit."""
    return None if left_s is None else round(share * left_s, 3)
