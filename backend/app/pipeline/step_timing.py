"""Working time of nodes: each step records the clock at its start and at its end, without thinking."""

from collections.abc import Awaitable, Callable

from langgraph.runtime import Runtime

from app.agents.context import LabContext
from app.agents.state import LabState, LabUpdate
from app.tools.context.preferences import DEFAULT_BUDGET_S, read_preferences
from app.tools.context.thinking_time import thinking_allowance_s

LabNode = Callable[[LabState, Runtime[LabContext]], Awaitable[LabUpdate]]


def record_working_time(name: str, node: LabNode) -> LabNode:
    """Wrap a node: it reads `worked_s` at its start and adds its duration to `took`."""

    async def run(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
        clock, thinking = runtime.context.working_time_s, runtime.context.thinking
        thinking.earlier_s = state.get("thought_s", 0.0)
        thinking.allowance_s = thinking_allowance_s(
            read_preferences(state.get("preferences", {})).time_budget_s or DEFAULT_BUDGET_S
        )
        start_s = await clock("start")
        # Times come from the journaled clock, so that a resumed step adds the same seconds.
        update = await node({**state, "worked_s": start_s}, runtime)
        end_s = await clock("end")
        node_seconds = {**state.get("took", {}), name: round(max(0.0, end_s - start_s), 3)}
        thought_s = round(thinking.total_s, 3)
        return {**update, "worked_s": end_s, "thought_s": thought_s, "took": node_seconds}

    return run
