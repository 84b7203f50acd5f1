"""Validation of a workflow: every fault at once, each with its place as a JSON pointer (RFC 6901)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter

from pydantic import ValidationError

from app.errors import InvalidInput
from app.modeling.problem.name_resolution import nearest_names
from app.workflows.document import MAX_NODE_ID_CHARS, Node, WorkflowDocument
from app.workflows.faults import WorkflowFault
from app.workflows.item_documents import INNER_TYPES, ITEM, read_inner_nodes
from app.workflows.joins import find_join_faults
from app.workflows.named_values import find_name_faults
from app.workflows.node_configs import COMPARES_RUNS, MAX_ITEMS
from app.workflows.node_types import NODE_TYPES

MAX_SHOWN_FAULTS = 100
"""Faults of an answer: a reader mends the first ones and asks again."""


def find_faults(document: WorkflowDocument) -> list[WorkflowFault]:
    """Find all faults of types, configurations, ids, edges and circles; names of columns are not looked at."""
    faults = [*_node_faults(document), *_edge_faults(document)]
    # Later checks look nodes up by the ids and edges that the earlier ones have found right.
    if not faults:
        faults = [*_input_faults(document), *_circle_faults(document), *_study_faults(document)]
    if not faults:
        order = sort_nodes(document)
        faults = [*find_name_faults(document, order), *find_join_faults(document, order)]
    return faults[:MAX_SHOWN_FAULTS]


def find_outputs(document: WorkflowDocument) -> list[str]:
    """Return the ids of the nodes whose output no other node takes."""
    inputs = {edge.source for edge in document.edges}
    return [
        node.id
        for node in document.nodes
        if node.id not in inputs
        and (kind := NODE_TYPES.get(node.type)) is not None
        and kind.gives != "nothing"
        # What passes its input on has no output without one.
        and (kind.gives != "input" or document.inputs_of(node.id))
    ]


def require_valid(faults: Sequence[WorkflowFault]) -> None:
    """Raises InvalidInput that lists the faults."""
    if faults:
        others = len(faults) - 1
        more = f" {others} more {'is' if others == 1 else 'are'} wrong." if others else ""
        raise InvalidInput(
            "workflow_invalid",
            f"{faults[0].pointer}: {faults[0].message}{more}",
            faults=[fault.model_dump(mode="json") for fault in faults],
        )


def sort_nodes(document: WorkflowDocument) -> list[str]:
    """Return the ids of all nodes, each after its inputs. Raises CycleError."""
    graph = {node.id: document.inputs_of(node.id) for node in document.nodes}
    return list(TopologicalSorter(graph).static_order())


def _node_faults(document: WorkflowDocument) -> Iterator[WorkflowFault]:
    counts = Counter(node.id for node in document.nodes)
    if not document.nodes:
        yield WorkflowFault(
            pointer="/nodes", code="empty_workflow", message="A workflow needs at least one node."
        )
    for place, node in enumerate(document.nodes):
        pointer = f"/nodes/{place}"
        if counts[node.id] > 1:
            yield WorkflowFault(
                pointer=f"{pointer}/id", code="duplicate_id", message=f"There are two nodes {node.id}."
            )
        yield from _config_faults(node, pointer)
        yield from _inner_faults(node, pointer, document)


def _inner_faults(node: Node, pointer: str, document: WorkflowDocument) -> Iterator[WorkflowFault]:
    """Find faults of the nodes in a `for_each`, whose ids in a run are made of both ids."""
    inner_nodes = read_inner_nodes(node)
    counts = Counter(inner.id for inner in inner_nodes)
    for place, inner in enumerate(inner_nodes):
        inner_pointer = f"{pointer}/config/nodes/{place}"
        yield from _config_faults(inner, inner_pointer)
        if inner.type in NODE_TYPES and inner.type not in INNER_TYPES:
            message = f"{inner.type} cannot stand in for_each. There are: {', '.join(INNER_TYPES)}."
            yield WorkflowFault(pointer=f"{inner_pointer}/type", code="wrong_inner_type", message=message)
        if inner.type == "condition" and inner.config.get("op") in COMPARES_RUNS:
            message = "A condition in for_each cannot compare with the run before, which may have other items."
            yield WorkflowFault(pointer=f"{inner_pointer}/config/op", code="wrong_config", message=message)
        if counts[inner.id] > 1 or inner.id == ITEM:
            message = f"{inner.id} is taken: ids of nodes in for_each differ, and `{ITEM}` is the item itself."
            yield WorkflowFault(pointer=f"{inner_pointer}/id", code="duplicate_id", message=message)
        # The longest id of a run: that of the last item.
        if len(f"{node.id}-{MAX_ITEMS}-{inner.id}") > MAX_NODE_ID_CHARS:
            message = f"{node.id} and {inner.id} are too long together: {MAX_NODE_ID_CHARS} characters at most."
            yield WorkflowFault(pointer=f"{inner_pointer}/id", code="wrong_config", message=message)
    if inner_nodes:
        for place, other in enumerate(document.nodes):
            # Ids of items are made of the loop's id, a number and the inner id.
            if other.id.startswith(f"{node.id}-"):
                message = f"{other.id} could be an item of {node.id}: name one of them otherwise."
                yield WorkflowFault(pointer=f"/nodes/{place}/id", code="duplicate_id", message=message)


def _config_faults(node: Node, pointer: str) -> Iterator[WorkflowFault]:
    node_type = NODE_TYPES.get(node.type)
    if node_type is None:
        close = nearest_names(node.type, list(NODE_TYPES))
        hint = f"Did you mean {', '.join(close)}?" if close else f"There are: {', '.join(NODE_TYPES)}."
        yield WorkflowFault(
            pointer=f"{pointer}/type",
            code="unknown_node_type",
            message=f"There is no type of node {node.type}. {hint}",
            nearest=list(close),
        )
        return
    try:
        node_type.parse(node.config)
    except ValidationError as error:
        for fault in error.errors(include_url=False, include_input=False, include_context=False):
            path = "".join(f"/{_escape(str(part))}" for part in fault["loc"])
            setting = ".".join(map(str, fault["loc"]))
            reason = fault["msg"].removeprefix("Value error, ").rstrip(".")
            message = f"{node.id} ({node.type}){f', {setting}' if setting else ''}: {reason}."
            yield WorkflowFault(pointer=f"{pointer}/config{path}", code="wrong_config", message=message)


def _edge_faults(document: WorkflowDocument) -> Iterator[WorkflowFault]:
    ids = [node.id for node in document.nodes]
    pairs: set[tuple[str, str]] = set()
    for place, edge in enumerate(document.edges):
        for field, end in (("from", edge.source), ("to", edge.target)):
            if end not in ids:
                close = nearest_names(end, ids)
                hint = f" Did you mean {', '.join(close)}?" if close else ""
                yield WorkflowFault(
                    pointer=f"/edges/{place}/{field}",
                    code="unknown_node",
                    message=f"There is no node {end}.{hint}",
                    nearest=list(close),
                )
        if _gives_nothing(edge.source, document):
            yield WorkflowFault(
                pointer=f"/edges/{place}/from",
                code="no_output",
                message=f"{edge.source} is a trigger: it starts the whole workflow and has no edges.",
            )
        if (edge.source, edge.target) in pairs:
            yield WorkflowFault(
                pointer=f"/edges/{place}",
                code="duplicate_edge",
                message=f"There are two edges from {edge.source} to {edge.target}.",
            )
        pairs.add((edge.source, edge.target))


def _gives_nothing(node_id: str, document: WorkflowDocument) -> bool:
    types = [NODE_TYPES.get(node.type) for node in document.nodes if node.id == node_id]
    return any(node_type is not None and node_type.gives == "nothing" for node_type in types)


def _input_faults(document: WorkflowDocument) -> Iterator[WorkflowFault]:
    for place, node in enumerate(document.nodes):
        node_type, count = NODE_TYPES[node.type], len(document.inputs_of(node.id))
        if not node_type.min_inputs <= count <= node_type.max_inputs:
            needed = (
                f"{node_type.min_inputs} to {node_type.max_inputs}"
                if node_type.max_inputs > node_type.min_inputs
                else str(node_type.max_inputs)
            )
            yield WorkflowFault(
                pointer=f"/nodes/{place}",
                code="wrong_inputs",
                message=f"{node.id} ({node.type}) takes {needed} inputs and has {count} edges to it.",
            )


def _study_faults(document: WorkflowDocument) -> Iterator[WorkflowFault]:
    """Find studies of tables that are no datasets."""
    types = {node.id: node.type for node in document.nodes}
    for place, node in enumerate(document.nodes):
        wrong = [
            source for source in document.inputs_of(node.id) if types[source] not in ("read_dataset", "store")
        ]
        if node.type == "study" and wrong:
            message = f"{node.id} studies datasets, and {wrong[0]} gives none. Put a `store` between them."
            yield WorkflowFault(pointer=f"/nodes/{place}", code="study_needs_dataset", message=message)


def _circle_faults(document: WorkflowDocument) -> Iterator[WorkflowFault]:
    try:
        sort_nodes(document)
    except CycleError as error:
        nodes = " -> ".join(reversed(error.args[1]))
        yield WorkflowFault(pointer="/edges", code="circle", message=f"The edges go in a circle: {nodes}.")


def _escape(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")
