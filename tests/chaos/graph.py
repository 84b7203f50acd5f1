"""A light graph that does all that a session can, lap after lap, until enough faults have come.

Its preferences: `until` (the fault after which it ends), `tool_ms`, `ask_every` (laps between
questions), `fits` of each round and `fit_ms`. Its cells are real ones, and what they leave are real blobs.
"""

import asyncio
import operator
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from tests.chaos.work_log import WorkLog

from app.errors import LabError
from app.sandbox.computation_runner import ComputationResult, ComputationRunner
from app.sandbox.exchange.contract import Computation
from app.sessions.events.events import Progress
from app.sessions.graphs import GraphSpec, JournaledState, journaled
from app.sessions.step_scope import ArtifactDraft, Call, CallResult, Fit, Question, StepScope

MAX_LAPS = 150
"""Laps after which a session ends, even if faults have not."""
NODES = ("working", "asking", "fitting", "turning")
ANSWERS = ("a", "b", "c")


class ChaosState(JournaledState, total=False):
    lap: int
    file: str | None
    """Digest of the newest file."""
    over: bool
    log: Annotated[list[Any], operator.add]


@dataclass(frozen=True)
class Tools:
    """Dependencies of a node. `count`: a file with the number of faults so far."""

    step: StepScope
    computer: ComputationRunner
    work_log: WorkLog
    count: Path

    def wish(self, name: str) -> int:
        return int(self.step.session.preferences[name])

    async def run_once(self, key: str, name: str, work: Callable[[], Awaitable[CallResult]]) -> Any:
        """A recorded call whose work is noted in the work_log each time that it is really done."""

        async def run() -> CallResult:
            self.work_log.write("begin", self.step, key)
            try:
                return await work()
            finally:
                self.work_log.write("end", self.step, key)

        return await self.step.call(Call(key, "tool", name, "tester", {"key": key}), run)


def left_bytes(seed: int, seq: int) -> int:
    """The size of the file that a step leaves: all zeros, so its digest can be told beforehand."""
    return 1 + (seed * 1009 + seq) % 60_000


async def _work(state: Mapping[str, Any], runtime: Runtime[Tools]) -> dict[str, Any]:
    tools, step = runtime.context, runtime.context.step

    async def leave() -> CallResult:
        size = left_bytes(step.session.seed, step.seq)
        try:
            computed = await tools.computer.run(
                Computation("cell_fixtures.leave", {"names": ["left"], "size_bytes": size}), {}
            )
        except LabError as error:
            return CallResult({"failed": error.code}, failed=True)
        return CallResult({"left": computed.file("left").digest}, artifacts=[_draft("left", computed)])

    async def linger() -> CallResult:
        await asyncio.sleep(tools.wish("tool_ms") / 1000)
        return CallResult({"list": [1, 2.5]})

    tool_result = await tools.run_once("tool:1", "leave", leave)
    await tools.run_once("tool:2", "linger", linger)
    step.post_message("tester", f"lap {state['lap']}")
    step.emit(Progress(step=step.seq, attempt=step.attempt, text="halfway", fraction=0.5))
    return {"log": [["working", tool_result]], "file": tool_result.get("left", state["file"])}


def _draft(name: str, computed: ComputationResult) -> ArtifactDraft:
    file = computed.file(name)
    return ArtifactDraft("text", name, "text/plain", file.digest, file.size_bytes)


async def _ask(state: Mapping[str, Any], runtime: Runtime[Tools]) -> dict[str, Any]:
    tools = runtime.context
    if state["lap"] % tools.wish("ask_every"):
        return {}
    question = Question("letter", "tester", "Which letter?", {"enum": list(ANSWERS)}, list(ANSWERS), "a")
    return {"log": [["asking", await tools.step.ask(question)]]}


async def _fit(state: Mapping[str, Any], runtime: Runtime[Tools]) -> dict[str, Any]:
    tools = runtime.context
    if state["lap"] % 2:
        return {}
    seconds = tools.wish("fit_ms") / 1000
    fits = [Fit(f"rest-{n}", "cell_fixtures.rest", {"seconds": seconds}, {}) for n in range(tools.wish("fits"))]
    if state["file"]:
        fits.append(Fit("sizes", "cell_fixtures.sizes", {}, {"file": state["file"]}))
    outcomes = await tools.step.fan_out("round", fits, 60.0)
    return {"log": [["fitting", [[outcome.name, outcome.status, outcome.value] for outcome in outcomes]]]}


async def _turn(state: Mapping[str, Any], runtime: Runtime[Tools]) -> dict[str, Any]:
    tools = runtime.context

    async def look() -> CallResult:
        return CallResult(int(tools.count.read_text()) >= tools.wish("until"))

    over = await tools.step.call(Call("choice:1", "choice", "look", "tester", {}), look)
    return {"lap": state["lap"] + 1, "over": over or state["lap"] >= MAX_LAPS}


def _next(state: Mapping[str, Any]) -> Literal["working", "__end__"]:
    return "__end__" if state["over"] else "working"


def spec(computer: ComputationRunner, work_log: WorkLog, count: Path) -> GraphSpec:
    nodes = zip(NODES, (_work, _ask, _fit, _turn), strict=True)
    graph = StateGraph(ChaosState)
    for name, node in nodes:
        graph.add_node(name, cast(Any, journaled(name, node)))
    for before, after in zip((START, *NODES[:-1]), NODES, strict=True):
        graph.add_edge(before, after)
    graph.add_conditional_edges("turning", _next, {"working": "working", "__end__": END})
    return GraphSpec(
        name="lab",
        version=1,
        graph=graph.compile(),
        initial=lambda facts: {"log": [], "lap": 1, "file": None, "over": False},
        make_context=lambda step: Tools(step, computer, work_log, count),
        result=lambda state: {"log": state["log"], "laps": state["lap"] - 1},
    )
