"""Documents of the items of `for_each`: the nodes of one item, as a chain behind the rows of the item."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from sys import float_info
from typing import Any, NamedTuple

from pydantic import ValidationError

from app.plans.expressions import ColumnType
from app.workflows.document import Node, WorkflowDocument, WorkflowEdge, find_ancestors
from app.workflows.node_configs import ForEach
from app.workflows.node_types import NODE_TYPES

FOR_EACH = "for_each"
ITEM = "item"
"""Name of the rows of an item in texts of its nodes."""
_NOT_INSIDE = frozenset({FOR_EACH, "agent", "approve", "study"})
"""Types that wait or nest, or that are too much for each item."""
INNER_TYPES = tuple(
    name
    for name, kind in NODE_TYPES.items()
    if kind.min_inputs <= 1 <= kind.max_inputs and name not in _NOT_INSIDE
)
"""Types of nodes that may stand in `for_each`: those of one input."""


class PlacedNode(NamedTuple):
    """A node of a document or of a `for_each` in it, with its JSON pointer."""

    pointer: str
    node: Node


def list_placed_nodes(document: WorkflowDocument) -> Iterator[PlacedNode]:
    """Yield all nodes, each `for_each` before those in it."""
    for place, node in enumerate(document.nodes):
        yield PlacedNode(f"/nodes/{place}", node)
        for inner_place, inner in enumerate(read_inner_nodes(node)):
            yield PlacedNode(f"/nodes/{place}/config/nodes/{inner_place}", inner)


def read_inner_nodes(node: Node) -> list[Node]:
    """Return the nodes in a `for_each`; none of another node, or where they cannot be read."""
    if node.type != FOR_EACH:
        return []
    try:
        return ForEach.model_validate(node.config).nodes
    except ValidationError:
        return []


def name_item(node_id: str, number: int | str) -> str:
    """Return the id of the rows of an item, and the first part of the ids of its nodes."""
    return f"{node_id}-{number}"


def make_item_document(
    document: WorkflowDocument, node: Node, config: ForEach, number: int | str, condition: Mapping[str, Any]
) -> WorkflowDocument:
    """Return the nodes before a `for_each`, the rows of one item, and the nodes that run for it.

    `condition`: selects the rows of the item.
    """
    before = find_ancestors(document, node.id)
    first = name_item(node.id, number)
    chain = [
        Node(id=first, type="filter", config={"condition": dict(condition)}),
        *(inner.model_copy(update={"id": f"{first}-{inner.id}"}) for inner in config.nodes),
    ]
    ids = [document.inputs_of(node.id)[0], *(inner.id for inner in chain)]
    edges = [edge for edge in document.edges if edge.source in before and edge.target in before]
    edges += [WorkflowEdge(source=source, target=target) for source, target in pairwise(ids)]
    return WorkflowDocument(
        nodes=[*(other for other in document.nodes if other.id in before), *chain], edges=edges
    )


def select_item(column: str, value: Any, type_: ColumnType) -> dict[str, Any]:
    """Return the condition of the rows of an item."""
    operand = {"kind": "column", "name": column}
    if value is None:
        # `=` holds for no row without a value, in SQL as in plans.
        return {"kind": "is_null", "operand": operand}
    return {"kind": "compare", "op": "=", "left": operand, "right": make_literal(value, type_)}


def select_missing_number(column: str) -> dict[str, Any]:
    """Return the condition of the rows whose number is missing, or is none: NaN or infinity."""
    operand = {"kind": "column", "name": column}
    # DuckDB orders NaN above infinity.
    bounds = (">", float_info.max), ("<", -float_info.max)
    beyond = [
        {"kind": "compare", "op": op, "left": operand, "right": make_literal(bound, "number")}
        for op, bound in bounds
    ]
    return {"kind": "or", "operands": [select_item(column, None, "number"), *beyond]}


def make_literal(value: Any, type_: ColumnType) -> dict[str, Any]:
    literal: dict[str, Any] = {"kind": "literal", "value": value}
    return {**literal, "type": "datetime"} if type_ == "datetime" and value is not None else literal
