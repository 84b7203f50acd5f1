"""Graphs that sessions can run: any LangGraph graph whose nodes are journaled."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypedDict

from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from app.errors import LabError
from app.sessions.step_scope import SessionFacts, StepScope


class JournaledState(TypedDict, total=False):
    """What every graph state must have. `step`: how many steps have run; only `journaled` writes it."""

    step: int


class CommittingStep(StepScope, Protocol):
    """A step that can be looked up and committed: what `journaled` needs beside the scope."""

    async def recorded(self) -> dict[str, Any] | None: ...

    async def commit(self, update: Mapping[str, Any]) -> dict[str, Any]: ...


class Drive(Protocol):
    """The graph's runtime context while a session is driven."""

    def begin(self, seq: int, node: str) -> CommittingStep: ...

    def context(self, step: StepScope) -> Any:
        """What the node gets as `runtime.context`."""
        ...


Node = Callable[[Any, Runtime[Any]], Awaitable[Mapping[str, Any]]]


def journaled(name: str, node: Node) -> Node:
    """`node`, run once and then replayed: looked up first, committed after.

    Graphs are sequences: one node a superstep. The node's `runtime.context` is what the graph's spec makes of
    the step's scope; its update must be JSON.
    """

    async def run(state: Mapping[str, Any], runtime: Runtime[Any]) -> Mapping[str, Any]:
        drive: Drive = runtime.context
        step = drive.begin(state.get("step", 0) + 1, name)
        recorded = await step.recorded()
        if recorded is not None:
            return recorded
        update = await node(state, runtime.override(context=drive.context(step)))
        return await step.commit({**update, "step": step.seq})

    run.__name__ = name
    return run


def _no_result(state: Mapping[str, Any]) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class GraphSpec:
    """One graph, compiled without a checkpointer.

    `initial(facts)`: the input of a new session. `make_context(scope)`: what nodes get as `runtime.context`.
    `result(state)`: what a completed session shows. Raise `version` when a recorded session could not be
    replayed by the new graph: workers of the old version end it, and where there is none any more it ends
    with a readable error instead of a guess. `also`: earlier versions whose sessions this one goes on with.
    """

    name: str
    version: int
    graph: "CompiledStateGraph[Any, Any, Any, Any]"
    initial: Callable[[SessionFacts], Mapping[str, Any]]
    make_context: Callable[[StepScope], Any]
    result: Callable[[Mapping[str, Any]], dict[str, Any]] = _no_result
    continued_versions: tuple[int, ...] = ()

    @property
    def supported_versions(self) -> list[int]:
        """Its version and then earlier ones whose sessions it goes on with."""
        return [self.version, *self.continued_versions]


class Graphs:
    """The registry that API and workers share."""

    def __init__(self, specs: Iterable[GraphSpec]) -> None:
        self._specs = {spec.name: spec for spec in specs}
        self.versions = {spec.name: spec.version for spec in self._specs.values()}
        self.supported_versions = {spec.name: spec.supported_versions for spec in self._specs.values()}

    def get(self, name: str, version: int | None) -> GraphSpec:
        """Raises LabError when this service cannot run that graph."""
        spec = self._specs.get(name)
        if spec is None:
            raise LabError("graph_unknown", f"This service has no graph named {name}.")
        if version not in spec.supported_versions:
            raise LabError(
                "graph_version",
                f"The session was started with version {version} of the graph {name}, and this service runs "
                f"version {spec.version}, which cannot continue it. Start the session again.",
            )
        return spec
