"""A graph with everything a session can do, steered by its preferences.

`ask`: ask one question. `fits`: candidates of its round. `step_ms`, `fit_ms`: how long a node or fit takes.
`fit_deadline_s`: of the round. `poison`: a node that raises. `away_while`: no node finds the blob store while
there is this file. `held_while`, `fits_held_while`: the node `retrieval`, or each fit, goes on when this file
is gone: what a test does meanwhile is not overtaken, however slow the machine is. `chat_tokens`: what a chat
call of each node uses.
"""

import asyncio
import operator
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from tests.patience import HANG_GUARD_S

from app.sessions.events.events import Progress
from app.sessions.graphs import GraphSpec, JournaledState, Node, journaled
from app.sessions.step_scope import ArtifactDraft, Call, CallResult, Fit, Question, StepScope
from app.storage.blobs import StoreUnavailable

NEVER_MS = 10_000 * HANG_GUARD_S
"""Of a fit or a node that has not ended when the test has."""

NODES = ("planning", "asking", "retrieval", "training", "evaluation", "reporting")


class LabState(JournaledState, total=False):
    answer: str | None
    scores: list[Any]
    log: Annotated[list[Any], operator.add]


def need_store(away_while: str) -> None:
    """Raises StoreUnavailable while there is this file."""
    if Path(away_while).is_file():
        raise StoreUnavailable("blob_store_away", "The bucket does not answer.")


async def wait_while(held_while: str) -> None:
    """Wait until this file is gone; return at once where none is named."""
    while held_while and Path(held_while).is_file():  # noqa: ASYNC110, ASYNC240 - another process removes it
        await asyncio.sleep(0.005)


async def _linger(step: StepScope) -> None:
    await asyncio.sleep(step.session.preferences.get("step_ms", 0) / 1000)
    if step.node == "retrieval":
        await wait_while(step.session.preferences.get("held_while", ""))


async def _tool(step: StepScope, number: int) -> Any:
    """One recorded call that leaves an artifact, as a tool does."""

    async def run() -> CallResult:
        if not await step.can_afford("tool", "tester"):
            return CallResult({"used_up": True})
        await _linger(step)
        name = f"{step.node}-{number}"
        draft = ArtifactDraft("text", name, "text/plain", "0" * 64, 1)
        return CallResult({"made": name, "tuple": (1, 2.5)}, artifacts=[draft], usage={"tokens": 1})

    return await step.call(Call(f"tool:{number}", "tool", "make", "tester", {"number": number}), run)


async def _chat(step: StepScope, tokens: int) -> None:
    async def run() -> CallResult:
        if not await step.can_afford("chat", "tester"):
            return CallResult({"used_up": True})
        return CallResult({}, usage={"input_tokens": tokens, "output_tokens": 0})

    await step.call(Call("chat:1", "chat", "scripted", "tester", {}), run)


async def _work(state: Mapping[str, Any], runtime: Runtime[StepScope]) -> dict[str, Any]:
    step = runtime.context
    if step.session.preferences.get("poison") == step.node:
        raise ZeroDivisionError("poisoned")
    need_store(step.session.preferences.get("away_while", ""))
    if tokens := step.session.preferences.get("chat_tokens"):
        await _chat(step, tokens)
    results = [await _tool(step, number) for number in (1, 2)]
    step.post_message(step.node, f"{step.node} is done")
    step.save_artifact(ArtifactDraft("text", f"{step.node}-kept", "text/plain", "0" * 64, 1))
    step.emit(Progress(step=step.seq, attempt=step.attempt, text="halfway", fraction=0.5))
    return {"log": [[step.node, results]]}


async def _ask(state: Mapping[str, Any], runtime: Runtime[StepScope]) -> dict[str, Any]:
    step = runtime.context
    if not step.session.preferences.get("ask"):
        return {"answer": None}
    question = Question("target", "tester", "Which column?", {"enum": ["a", "b"]}, ["a", "b"], "a")
    return {"answer": await step.ask(question), "log": [[step.node]]}


async def _train(state: Mapping[str, Any], runtime: Runtime[StepScope]) -> dict[str, Any]:
    step = runtime.context
    preferences = step.session.preferences
    params = {"ms": preferences.get("fit_ms", 0), "seconds": preferences.get("fit_ms", 0) / 1000}
    params["away_while"] = preferences.get("away_while", "")
    params["held_while"] = preferences.get("fits_held_while", "")
    fits = [
        Fit(f"c{n}", preferences.get("function", "lab.fit"), params, {})
        for n in range(preferences.get("fits", 0))
    ]
    outcomes = await step.fan_out("round", fits, preferences.get("fit_deadline_s", HANG_GUARD_S))
    return {
        "scores": [[outcome.name, outcome.status, outcome.value] for outcome in outcomes],
        "log": [[step.node]],
    }


def spec(version: int = 1, also: tuple[int, ...] = ()) -> GraphSpec:
    nodes: dict[str, Node] = {**dict.fromkeys(NODES, _work), "asking": _ask, "training": _train}
    graph = StateGraph(LabState)
    for name in NODES:
        graph.add_node(name, journaled(name, nodes[name]))
    for before, after in zip((START, *NODES), (*NODES, END), strict=True):
        graph.add_edge(before, after)
    return GraphSpec(
        name="lab",
        version=version,
        continued_versions=also,
        graph=graph.compile(),
        initial=lambda facts: {"log": []},
        make_context=lambda step: step,
        result=lambda state: {"log": state["log"], "scores": state["scores"], "answer": state["answer"]},
    )
