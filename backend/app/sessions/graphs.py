"""The graphs that sessions can run: LangGraph graphs whose nodes are journaled."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypedDict

from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from app.errors import LabError
from app.sessions.step_scope import SessionFacts, StepScope


class JournaledState(TypedDict, total=False):
    """Base of every graph state. `step`: number of steps that have run, written only by `journaled`."""

    step: int


class CommittingStep(StepScope, Protocol):
    """A step scope that `journaled` can look up and commit."""

    async def recorded(self) -> dict[str, Any] | None: ...

    async def commit(self, update: Mapping[str, Any]) -> dict[str, Any]: ...


class Drive(Protocol):
    """The graph's runtime context while a session is driven."""

    def begin(self, seq: int, node: str) -> CommittingStep: ...

    def context(self, step: StepScope) -> Any:
        """Make the `runtime.context` of a node."""
        ...


Node = Callable[[Any, Runtime[Any]], Awaitable[Mapping[str, Any]]]


def journaled(name: str, node: Node) -> Node:
    """Wrap a node so that its update is looked up first and committed after, and so runs once.

    Graphs are sequences of one node per superstep. The node's `runtime.context` is made from the step's scope
    by `GraphSpec.make_context`. Its update must be JSON.
    """

    async def run(state: Mapping[str, Any], runtime: Runtime[Any]) -> Mapping[str, Any]:
        drive: Drive = runtime.context
        # Counted in the state, so that checkpoint and journal mean the same step.
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

    `initial(facts)`: input of a new session. `make_context(scope)`: `runtime.context` of nodes.
    `result(state)`: public result of a completed session. Raise `version` if the new graph cannot replay
    recorded sessions: workers of the old version end them, and without any they fail with a readable error.
    `continued_versions`: earlier versions whose sessions this one continues.
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
        """The version, then the earlier ones whose sessions it continues."""
        return [self.version, *self.continued_versions]


class Graphs:
    """The registry that API and workers share."""

    def __init__(self, specs: Iterable[GraphSpec]) -> None:
        self._specs = {spec.name: spec for spec in specs}
        self.versions = {spec.name: spec.version for spec in self._specs.values()}
        self.supported_versions = {spec.name: spec.supported_versions for spec in self._specs.values()}

    def get(self, name: str, version: int | None) -> GraphSpec:
        """Return a graph by name. Raises LabError if this service cannot run that version."""
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
