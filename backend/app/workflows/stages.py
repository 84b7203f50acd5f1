"""Stages of a workflow: the nodes that a run executes one by one."""

from collections.abc import Collection

from app.workflows.document import WorkflowDocument, nodes_by_id
from app.workflows.named_values import list_named_values
from app.workflows.node_configs import ForEach
from app.workflows.node_types import NODE_TYPES
from app.workflows.template_fields import list_fields
from app.workflows.validation import find_outputs, sort_nodes


def find_table_node(document: WorkflowDocument, node_id: str) -> str:
    """Return the node that made the table which a node passes on."""
    nodes = nodes_by_id(document)
    while NODE_TYPES[nodes[node_id].type].gives == "input" and document.inputs_of(node_id):
        node_id = document.inputs_of(node_id)[0]
    return node_id


def list_stages(document: WorkflowDocument, sources: Collection[str] = ()) -> list[str]:
    """List the nodes that do something, inputs first: all but operations that are part of another node's query.

    An operation whose values a text or the condition of an edge names is computed for itself, as are the
    further ones of `sources`.
    """
    nodes = nodes_by_id(document)
    needed = {*find_outputs(document), *sources, *(value.node_id for value in list_named_values(document))}
    for node in document.nodes:
        if NODE_TYPES[node.type].gives != "query":
            # What is no query needs its inputs as stored tables.
            needed |= {*document.inputs_of(node.id)}
    computed = {find_table_node(document, node_id) for node_id in needed if node_id in nodes}
    return [
        node_id
        for node_id in sort_nodes(document)
        if NODE_TYPES[nodes[node_id].type].gives in ("table", "input") or node_id in computed
    ]


def list_item_stages(document: WorkflowDocument, first: str, config: ForEach) -> list[str]:
    """List the nodes of an item that do something, its rows before all others."""
    sources = {f"{first}-{field.node_id}" for inner in config.nodes for field in list_fields(inner)}
    stages = [node_id for node_id in list_stages(document, sources) if node_id.startswith(f"{first}-")]
    return [first, *stages]
