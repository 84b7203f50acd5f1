"""Checks of the values of nodes that texts and conditions of edges name."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from app.modeling.problem.name_resolution import nearest_names
from app.plans.expressions import ColumnType
from app.plans.schema import TableSchema
from app.workflows.document import PASSES, Node, WorkflowDocument, WorkflowEdge
from app.workflows.faults import WorkflowFault
from app.workflows.item_documents import ITEM, list_placed_nodes, read_inner_nodes
from app.workflows.template_fields import STUDY_FIELDS, list_fields, list_misspelled

_OF_ANY_NODE = ("rows", "status", "error")
_OF_TYPE: Mapping[str, tuple[str, ...]] = {
    "condition": ("figure", PASSES),
    "approve": (PASSES,),
    "study": STUDY_FIELDS,
    "agent": ("answer",),
}
"""Values of a type of node beside those of any node and the columns of its table."""
_TYPES: Mapping[str, ColumnType] = {"rows": "number", "figure": "number", "value": "number", PASSES: "boolean"}
"""Types of values; a column of such a name goes before them."""
_NUMBER_TYPES: tuple[ColumnType, ...] = ("integer", "number")


class NamedValue(NamedTuple):
    """`pointer`: the place that names the value. `reader`: the node of the document that needs it.

    `writer`: id of the node whose text names it, which may be one in a `for_each`.
    """

    pointer: str
    node_id: str
    name: str
    reader: Node
    writer: str

    @property
    def place(self) -> int:
        """Return the position of the node, or edge, of that place."""
        return int(self.pointer.split("/")[2])

    @property
    def is_of_edge(self) -> bool:
        return self.pointer.startswith("/edges/")

    @property
    def is_inside(self) -> bool:
        """Check whether a node in a `for_each` names it."""
        return "/config/nodes/" in self.pointer


def list_named_values(document: WorkflowDocument) -> Iterator[NamedValue]:
    """Yield the values that conditions of edges name, then those that texts do."""
    nodes = {node.id: node for node in document.nodes}
    for place, edge in enumerate(document.edges):
        if edge.condition is not None and edge.target in nodes:
            pointer = f"/edges/{place}/condition/field"
            yield NamedValue(pointer, edge.source, edge.condition.field, nodes[edge.target], edge.target)
    for pointer, node in list_placed_nodes(document):
        reader = document.nodes[int(pointer.split("/")[2])]
        for field in list_fields(node):
            yield NamedValue(f"{pointer}/config/{field.setting}", field.node_id, field.name, reader, node.id)


def list_inner_names(node: Node) -> list[str]:
    """Return the names that texts in a `for_each` use for the item and the nodes beside it."""
    inner = read_inner_nodes(node)
    return [ITEM, *(other.id for other in inner)] if inner else []


def find_name_faults(document: WorkflowDocument, order: Sequence[str]) -> Iterator[WorkflowFault]:
    """Find values of nodes that do not exist, come too late, or have no such value whatever their table.

    `order`: the ids of all nodes, each after its inputs.
    """
    types = {node.id: node.type for node in document.nodes}
    places = {node_id: place for place, node_id in enumerate(order)}
    yield from _find_misspelled(document)
    for value in list_named_values(document):
        # Names of the item go first; they are checked with the columns of an item.
        if value.is_inside and value.node_id in list_inner_names(value.reader):
            continue
        node_id, message, nearest = value.node_id, "", list[str]()
        if node_id not in types:
            nearest = [*nearest_names(node_id, list(types))]
            hint = f" Did you mean {', '.join(nearest)}?" if nearest else ""
            message = f"There is no node {node_id}.{hint}"
        elif types[node_id] == "trigger":
            message = f"{node_id} is a trigger, which gives no values."
        # A message about a failure is sent last, whatever its place.
        elif not _waits_for_all(value.reader) and places[node_id] >= places[value.reader.id]:
            message = f"{node_id} runs after {value.reader.id}, or is that node: it has no values by then."
        elif value.is_of_edge and value.name in ("status", "error"):
            message = (
                f"{node_id} is done where its edges are looked at. A message about a failure is a `notify` "
                "with `when: failed`."
            )
        # Texts about a study mean its outcome, though it lets its table pass.
        elif types[node_id] == "study" and value.name not in _list_values("study"):
            nearest = [*nearest_names(value.name, _list_values("study"))]
            message = f"A study has no {value.name}. It has: {', '.join(_list_values('study'))}."
        if message:
            yield _make_fault(value, message, nearest)


def find_value_faults(
    document: WorkflowDocument, columns: Mapping[str, TableSchema]
) -> Iterator[WorkflowFault]:
    """Find values that are no columns of their tables, and tests of edges that do not fit their types.

    `columns`: those of each node whose table is known before a run.
    """
    types = {node.id: node.type for node in document.nodes}
    for value in list_named_values(document):
        if not (value.is_inside and value.node_id in list_inner_names(value.reader)):
            yield from _find_missing(value, types[value.node_id], columns.get(value.node_id))
    for place, edge in enumerate(document.edges):
        yield from _find_wrong_type(place, edge, columns.get(edge.source, {}))


def find_inner_value_faults(
    document: WorkflowDocument, place: int, columns: Mapping[str, TableSchema]
) -> Iterator[WorkflowFault]:
    """Find values that texts in one `for_each` name, and that its nodes or its item do not have.

    `columns`: those that are known, by the names that these texts use.
    """
    types = {ITEM: "filter"} | {inner.id: inner.type for inner in read_inner_nodes(document.nodes[place])}
    for value in list_named_values(document):
        if value.is_inside and value.place == place and value.node_id in types:
            yield from _find_missing(value, types[value.node_id], columns.get(value.node_id))


def _waits_for_all(node: Node) -> bool:
    return node.type == "notify" and node.config.get("when") == "failed"


def _list_values(type_: str) -> tuple[str, ...]:
    return (*_OF_ANY_NODE, *_OF_TYPE.get(type_, ()))


def _find_missing(value: NamedValue, type_: str, columns: TableSchema | None) -> Iterator[WorkflowFault]:
    names = [*_list_values(type_), *(columns or ())]
    if columns is not None and value.name not in names:
        nearest = [*nearest_names(value.name, names)]
        hint = f"Did you mean {', '.join(nearest)}?" if nearest else f"It has: {', '.join(names[:20])}."
        yield _make_fault(value, f"{value.node_id} has no {value.name}. {hint}", nearest)


def _find_wrong_type(place: int, edge: WorkflowEdge, columns: TableSchema) -> Iterator[WorkflowFault]:
    condition = edge.condition
    if condition is None:
        return
    type_ = columns.get(condition.field, _TYPES.get(condition.field))
    operand = condition.value
    value_type = "boolean" if isinstance(operand, bool) else "text" if isinstance(operand, str) else "number"
    # Times come as texts, in ISO 8601, of which equality can be tested.
    expected = "number" if type_ in _NUMBER_TYPES else "text" if type_ == "datetime" else type_
    if expected is not None and expected != value_type:
        message = f"{condition.field} of {edge.source} is {type_}, and cannot be compared with {operand!r}."
        yield WorkflowFault(pointer=f"/edges/{place}/condition/value", code="condition_wrong", message=message)


def _find_misspelled(document: WorkflowDocument) -> Iterator[WorkflowFault]:
    for pointer, node in list_placed_nodes(document):
        for setting, braces in list_misspelled(node):
            message = (
                f"{node.id}, {setting}: {braces} names no value. Write a node and one of its values, as "
                "{{node.rows}} or {{node.column}}."
            )
            yield WorkflowFault(pointer=f"{pointer}/config/{setting}", code="template_wrong", message=message)


def _make_fault(value: NamedValue, message: str, nearest: Sequence[str]) -> WorkflowFault:
    if value.is_of_edge:
        return WorkflowFault(
            pointer=value.pointer, code="condition_wrong", message=message, nearest=list(nearest)
        )
    setting = value.pointer.rpartition("/")[2]
    text = f"{value.writer}, {setting}: {{{{{value.node_id}.{value.name}}}}} has no value. {message}"
    return WorkflowFault(pointer=value.pointer, code="template_wrong", message=text, nearest=list(nearest))
