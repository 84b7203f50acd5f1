"""The graph of a session with what became of each node, to be drawn."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from app.errors import NotFound
from app.pipeline.shape import PIPELINE, SHAPES, GraphShape, chain_shape

NodeState = Literal["done", "next", "waiting", "skipped"]


class GraphNodeView(BaseModel):
    model_config = ConfigDict(frozen=True)

    name: str = Field(examples=["model_training"])
    title: str = Field(examples=["Model training"])
    state: NodeState = Field(
        description="`next`: it runs, or is one of several of which one runs; `skipped`: the session ended"
        " without it."
    )
    steps: list[int] = Field(description="Numbers of its steps; several where the session came back to it.")


class GraphEdgeView(BaseModel):
    model_config = ConfigDict(frozen=True)

    source: str
    target: str
    conditional: bool = Field(description="One of several edges of which one is taken.")
    loop: bool = Field(description="It leads back to an earlier node.")
    passages: int = Field(description="How often the session took it.")


class GraphNode(BaseModel):
    model_config = ConfigDict(frozen=True)

    name: str = Field(examples=["model_training"])
    title: str = Field(examples=["Model training"])


class GraphEdge(BaseModel):
    model_config = ConfigDict(frozen=True)

    source: str
    target: str
    conditional: bool = Field(description="One of several edges of which one is taken.")
    loop: bool = Field(description="It leads back to an earlier node, or to the same one.")


class GraphView(BaseModel):
    """A graph that sessions run. It begins at its first node; nodes are in the order of a way without loops."""

    model_config = ConfigDict(frozen=True)

    graph: str = Field(examples=["pipeline"])
    nodes: list[GraphNode]
    edges: list[GraphEdge]


class SessionGraph(BaseModel):
    """Nodes in the order of a session that goes nowhere twice."""

    model_config = ConfigDict(frozen=True)

    graph: str = Field(examples=["pipeline"])
    nodes: list[GraphNodeView]
    edges: list[GraphEdgeView]


def describe_graph(
    graph: str, visits: Sequence[tuple[int, str]], has_begun: bool, is_over: bool
) -> SessionGraph:
    """Describe the graph of a session. `visits`: number and node of each committed step, in order."""
    visited = [node for _, node in visits]
    shape = PIPELINE if graph == "pipeline" else chain_shape(visited)
    coming = _next_nodes(shape, visited) if has_begun and not is_over else ()
    nodes = [
        GraphNodeView(
            name=name,
            title=_make_title(name),
            state=_node_state(name, visited, coming, is_over),
            steps=[step for step, node in visits if node == name],
        )
        for name in shape.nodes
    ]
    return SessionGraph(graph=graph, nodes=nodes, edges=_edges(shape, visited))


def describe_shape(graph: str) -> GraphView:
    """Describe a graph by its name. Raises NotFound that names all of them."""
    if graph not in SHAPES:
        raise NotFound("graph_not_found", f"There is no graph {graph}. There are: {', '.join(SHAPES)}.")
    shape = SHAPES[graph]
    places = {name: place for place, name in enumerate(shape.nodes)}
    return GraphView(
        graph=graph,
        nodes=[GraphNode(name=name, title=_make_title(name)) for name in shape.nodes],
        edges=[
            GraphEdge(
                source=source,
                target=target,
                conditional=source in shape.branches,
                loop=places[target] <= places[source],
            )
            for source in shape.nodes
            for target in shape.successors(source)
        ],
    )


def _make_title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _next_nodes(shape: GraphShape, visited: Sequence[str]) -> Sequence[str]:
    return shape.successors(visited[-1]) if visited else shape.nodes[:1]


def _node_state(name: str, visited: Sequence[str], coming: Sequence[str], is_over: bool) -> NodeState:
    if name in coming:
        return "next"
    if name in visited:
        return "done"
    return "skipped" if is_over else "waiting"


def _edges(shape: GraphShape, visited: Sequence[str]) -> list[GraphEdgeView]:
    places = {name: place for place, name in enumerate(shape.nodes)}
    transitions = list(pairwise(visited))
    pairs = [(source, target) for source in shape.nodes for target in shape.successors(source)]
    return [
        GraphEdgeView(
            source=source,
            target=target,
            conditional=source in shape.branches,
            loop=places[target] < places[source],
            passages=transitions.count((source, target)),
        )
        for source, target in pairs
    ]
