"""Branches of a run: which nodes a condition, a refusal or a failure closes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Literal, NamedTuple

from app.errors import InvalidInput
from app.workflows.document import (
    PASSES,
    EdgeCondition,
    Node,
    WorkflowDocument,
    WorkflowEdge,
    find_ancestors,
)
from app.workflows.runs.context import Results, RunContext
from app.workflows.runs.result_values import find_value
from app.workflows.runs.schemas import NodeResult
from app.workflows.validation import sort_nodes


class Passage(NamedTuple):
    """The way to a node, or along an edge. `broken`: by a failure before it. `reasons`: why it is closed."""

    state: Literal["open", "closed", "broken"]
    reasons: tuple[str, ...] = ()


_OPEN = Passage("open")


def find_closing(ctx: RunContext, node: Node, results: Results) -> NodeResult | None:
    """Return the result of a node whose branch has ended, None for one that is to run.

    A condition that cannot be tested fails the node.
    """
    try:
        passage = _make_branches(ctx, results).judge_node(node.id)
    except InvalidInput as error:
        return NodeResult(status="failed", error=error.detail, code=error.code)
    return None if passage.state == "open" else NodeResult(status="skipped", notes=[*passage.reasons])


class OpenWays(NamedTuple):
    """The document without closed inputs of nodes that need any. `notes`: why those of a node are left out."""

    document: WorkflowDocument
    notes: tuple[str, ...]


def find_open_ways(ctx: RunContext, node: Node, results: Results) -> OpenWays:
    """Leave out the closed inputs of a node that needs any, and of such nodes before it or with a result.

    Notes are about the node, and about nodes before it that are a part of its query.
    """
    branches = _make_branches(ctx, results)
    before = {node.id, *find_ancestors(ctx.document, node.id)}
    closed: dict[WorkflowEdge, Passage] = {}
    for other in ctx.document.nodes:
        # Others keep their edges: their own branches are judged when they are to run.
        if other.needs == "any" and (other.id in before or other.id in results):
            passages = {edge: branches.judge_edge(edge) for edge in ctx.document.edges_to(other.id)}
            closed |= {edge: passage for edge, passage in passages.items() if passage.state != "open"}
    if not closed:
        return OpenWays(ctx.document, ())
    edges = [edge for edge in ctx.document.edges if edge not in closed]
    notes = [
        reason
        for edge, passage in closed.items()
        if edge.target in before and edge.target not in results
        for reason in passage.reasons
    ]
    return OpenWays(ctx.document.model_copy(update={"edges": edges}), tuple(dict.fromkeys(notes)))


def _make_branches(ctx: RunContext, results: Results) -> "Branches":
    return Branches(ctx.document, results, partial(_find_value, ctx, results))


def _find_value(ctx: RunContext, results: Results, node_id: str, name: str) -> object:
    return find_value(ctx, node_id, name, results)


@dataclass(frozen=True)
class Branches:
    """The ways of a run, open or closed. `find_value(node, name)`: a value of a result, None without one."""

    document: WorkflowDocument
    results: Results
    find_value: Callable[[str, str], object]
    _judged: dict[str, Passage] = field(default_factory=dict)

    @cached_property
    def _order(self) -> list[str]:
        return sort_nodes(self.document)

    @cached_property
    def _joins(self) -> set[str]:
        return {node.id for node in self.document.nodes if node.needs == "any"}

    def judge_node(self, node_id: str) -> Passage:
        """Judge whether a node is to run: all of its edges are open, or any where that is what it needs.

        A failure before it closes it in both cases. Raises InvalidInput for what cannot be tested.
        """
        before = find_ancestors(self.document, node_id)
        for other in self._order:  # not by recursion: a query may have hundreds of nodes
            if other in before and other not in self._judged and not self._has_ended(other):
                self._judged[other] = self._combine(other)
        return self._combine(node_id)

    def judge_edge(self, edge: WorkflowEdge) -> Passage:
        result = self.results.get(edge.source)
        if result is None:  # it is a part of a query
            before = self._find_judged(edge.source)
            if before.state != "open":
                return before
        elif result.status in ("failed", "unknown"):
            return Passage("broken")
        elif result.status == "skipped":
            # Its own result says why; here counts only whether something before it has failed.
            return Passage("broken" if self._find_judged(edge.source).state == "broken" else "closed")
        elif result.passes is False and (edge.condition is None or edge.condition.field != PASSES):
            return Passage("closed")
        reason = None if edge.condition is None else self._find_reason(edge, edge.condition)
        return _OPEN if reason is None else Passage("closed", (reason,))

    def _has_ended(self, node_id: str) -> bool:
        return node_id in self.results and self.results[node_id].status != "skipped"

    def _find_judged(self, node_id: str) -> Passage:
        return self._judged[node_id] if node_id in self._judged else self.judge_node(node_id)

    def _combine(self, node_id: str) -> Passage:
        passages = [self.judge_edge(edge) for edge in self.document.edges_to(node_id)]
        states = {passage.state for passage in passages}
        reasons = tuple(reason for passage in passages for reason in passage.reasons)
        # A failure closes also where one input is enough: results without it could be taken for whole.
        if "broken" in states:
            return Passage("broken", reasons)
        is_enough = "open" in states or not states if node_id in self._joins else "closed" not in states
        return _OPEN if is_enough else Passage("closed", reasons)

    def _find_reason(self, edge: WorkflowEdge, condition: EdgeCondition) -> str | None:
        value = self.find_value(edge.source, condition.field)
        if value is None:
            return f"{edge.source} -> {edge.target}: {condition.field} is missing, so that no condition holds."
        if condition.holds(value):
            return None
        return f"{edge.source} -> {edge.target} needs {condition.describe()}, and it is {value}."
