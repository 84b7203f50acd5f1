"""Working time: what a node took, by two recorded looks at the clock, is added up in the state."""

from collections.abc import Awaitable, Callable

from langgraph.runtime import Runtime

from app.agents.context import LabContext
from app.agents.state import LabState, LabUpdate

LabNode = Callable[[LabState, Runtime[LabContext]], Awaitable[LabUpdate]]


def timed(node: LabNode) -> LabNode:
    """The node between two recorded looks at the clock."""

    async def run(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
        began = await runtime.context.clock("start")
        update = await node(state, runtime)
        ended = await runtime.context.clock("end")
        return {**update, "spent_s": round(state.get("spent_s", 0.0) + max(0.0, ended - began), 3)}

    return run
