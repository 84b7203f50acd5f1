"""Edits of branches: new ones behind a test, tests before nodes that are there, and other branches."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from app.workflows.document import PASSES, EdgeCondition, Node, WorkflowDocument, WorkflowEdge, nodes_by_id
from app.workflows.phrases.change import ChangeQuestion
from app.workflows.phrases.graph_edits import add_node, insert_before, remove_node
from app.workflows.phrases.word_tests import OPPOSITES, FigureTest, RowsTest, ValueTest, WordTest
from app.workflows.validation import find_outputs

EFFECTS = ("notify", "store", "chart", "approve", "agent", "study", "for_each")
"""Types that do something with a table and are no part of how it is made."""
_NOT_PASSING = EdgeCondition(field=PASSES, op="=", value=False)


class NewStep(NamedTuple):
    """A node to add. `summary`: what it does, for a sentence that begins with its verb."""

    type: str
    config: dict[str, Any]
    summary: str


class OtherBranch(NamedTuple):
    """The beginning of another branch: what is open where a condition does not hold."""

    source: str
    condition: EdgeCondition


class AddedNode(NamedTuple):
    document: WorkflowDocument
    id: str


def find_branch_place(document: WorkflowDocument) -> str | ChangeQuestion:
    """Find the node whose table a new branch takes: the end of the workflow, before what is done with it."""
    types = {node.id: node.type for node in document.nodes}
    places: dict[str, None] = {}
    for place in find_outputs(document):
        # Up to the table that these effects take, which a new test is about as well.
        while types[place] in (*EFFECTS, "condition") and document.inputs_of(place):
            place = document.inputs_of(place)[0]
        places[place] = None
    if len(places) == 1:
        return next(iter(places))
    if not places:
        return ChangeQuestion("This workflow has no table to work on. Add a dataset or a request first.")
    return ChangeQuestion("The rows of which step decide?", tuple(places))


def add_branch(document: WorkflowDocument, place: str, test: WordTest, step: NewStep) -> AddedNode:
    """Add a node that takes the table of `place` if a test of it holds."""
    changed, source = document, place
    condition: EdgeCondition | None = None
    # An edge has one test: of a range, a node tests the lower end and the edge behind it the upper one.
    if isinstance(test, FigureTest) or (isinstance(test, RowsTest) and test.upper is not None):
        changed, source = add_node(document, "condition", _make_config(test))
        changed = _connect(changed, place, source, None)
    if isinstance(test, ValueTest):
        changed, source = add_node(document, "filter", test.make_filter())
        changed = _connect(changed, place, source, None)
    condition = _make_condition(test)
    changed, node_id = add_node(changed, step.type, step.config, step.config.get("channel"))
    return AddedNode(_connect(changed, source, node_id, condition), node_id)


def guard_node(document: WorkflowDocument, node: Node, test: WordTest) -> WorkflowDocument | ChangeQuestion:
    """Have a node run only if a test of its input holds."""
    edges = document.edges_to(node.id)
    if not edges:
        return ChangeQuestion(f"{node.id} takes no table, so nothing could be tested before it.")
    is_plain = isinstance(test, RowsTest) and test.upper is None
    if is_plain and all(edge.condition is None or edge.condition.field == "rows" for edge in edges):
        return set_conditions(document, node.id, _make_condition(test))
    if len(edges) > 1:
        return ChangeQuestion(
            f"{node.id} takes several tables. The rows of which step decide?",
            tuple(edge.source for edge in edges),
        )
    type_, config = (
        ("filter", test.make_filter()) if isinstance(test, ValueTest) else ("condition", _make_config(test))
    )
    changed, test_id = add_node(document, type_, config)
    inserted = insert_before(changed, test_id, node.id)
    return set_conditions(inserted, node.id, None if is_plain else _make_condition(test))


def set_conditions(
    document: WorkflowDocument, node_id: str, condition: EdgeCondition | None
) -> WorkflowDocument:
    """Set the condition of all edges to a node."""
    return replace_edges(
        document,
        [
            edge.model_copy(update={"condition": condition}) if edge.target == node_id else edge
            for edge in document.edges
        ],
    )


def replace_edges(document: WorkflowDocument, edges: Sequence[WorkflowEdge]) -> WorkflowDocument:
    return document.model_copy(update={"edges": [*edges]})


def clear_conditions(document: WorkflowDocument, node_id: str) -> WorkflowDocument:
    """Have a node run whatever its input is: no edge to it has a condition, and no `condition` is before it."""
    nodes = nodes_by_id(document)
    for source in document.inputs_of(node_id):
        followers = [edge.target for edge in document.edges if edge.source == source]
        # A test that other nodes wait for stays.
        if nodes[source].type == "condition" and followers == [node_id]:
            document = remove_node(document, source)
    return set_conditions(document, node_id, None)


def list_other_branches(document: WorkflowDocument) -> list[OtherBranch | None]:
    """List what is open where each condition does not hold; None for one that depends on two tests."""
    nodes = nodes_by_id(document)
    branches: dict[OtherBranch | None, None] = {}
    for edge in document.edges:
        is_decided = nodes[edge.source].type in ("condition", "approve")
        if edge.condition is None:
            if is_decided:
                branches[OtherBranch(edge.source, _NOT_PASSING)] = None
        elif is_decided and edge.condition.field != PASSES:
            branches[None] = None
        else:
            op = OPPOSITES[edge.condition.op]
            branches[OtherBranch(edge.source, edge.condition.model_copy(update={"op": op}))] = None
    return list(branches)


def add_other_branch(document: WorkflowDocument, branch: OtherBranch, step: NewStep) -> AddedNode:
    changed, node_id = add_node(document, step.type, step.config, step.config.get("channel"))
    return AddedNode(_connect(changed, branch.source, node_id, branch.condition), node_id)


def _make_config(test: WordTest) -> dict[str, Any]:
    if isinstance(test, FigureTest):
        return test.config
    return {"function": "count", "op": test.op, "value": test.value} if isinstance(test, RowsTest) else {}


def _make_condition(test: WordTest) -> EdgeCondition | None:
    """Return the condition of the edge behind the node that a test needs, or of the edge alone."""
    if isinstance(test, FigureTest):
        return None if test.passes else _NOT_PASSING
    if isinstance(test, RowsTest) and test.upper is not None:
        return EdgeCondition(field="rows", op="<=", value=test.upper)
    return test.make_condition()


def _connect(
    document: WorkflowDocument, source: str, target: str, condition: EdgeCondition | None
) -> WorkflowDocument:
    return replace_edges(
        document, [*document.edges, WorkflowEdge(source=source, target=target, condition=condition)]
    )
