"""Working time: each step looks at the clock when it begins and when it ends, and both looks are recorded."""

from collections.abc import Awaitable, Callable

from langgraph.runtime import Runtime

from app.agents.context import LabContext
from app.agents.state import LabState, LabUpdate

LabNode = Callable[[LabState, Runtime[LabContext]], Awaitable[LabUpdate]]


def timed(name: str, node: LabNode) -> LabNode:
    """The node with `worked_s` of its beginning; `took` holds how long each node took when it ran last."""

    async def run(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
        clock = runtime.context.clock
        began_s = await clock("start")
        update = await node({**state, "worked_s": began_s}, runtime)
        ended_s = await clock("end")
        took = {**state.get("took", {}), name: round(max(0.0, ended_s - began_s), 3)}
        return {**update, "worked_s": ended_s, "took": took}

    return run
