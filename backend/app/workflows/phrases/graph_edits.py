"""Edits of a workflow's graph: nodes are inserted into chains, and removed so that chains stay whole."""

import re
from collections.abc import Mapping
from typing import Any

from app.workflows.document import Node, WorkflowDocument, WorkflowEdge
from app.workflows.validation import find_outputs


def new_id(document: WorkflowDocument, stem: str) -> str:
    """Return an id that no node has."""
    stem = re.sub(r"[^A-Za-z0-9_-]+", "_", stem).strip("_")[:80] or "node"
    ids = {node.id for node in document.nodes}
    return next(
        name
        for number in range(len(ids) + 2)
        if (name := stem if not number else f"{stem}_{number + 1}") not in ids
    )


def add_node(
    document: WorkflowDocument, type_: str, config: Mapping[str, Any], stem: str | None = None
) -> tuple[WorkflowDocument, str]:
    """Add a node without edges; return its id too."""
    node = Node(id=new_id(document, stem or type_), type=type_, config=dict(config))
    return _with(document, nodes=[*document.nodes, node]), node.id


def insert_after(document: WorkflowDocument, node_id: str, place: str) -> WorkflowDocument:
    """Take the output of `place` as input, and give the own output to all that took it."""
    moved = {edge.condition for edge in document.edges if edge.source == place}
    # A condition is about the result of `place`, so it stays there, unless the branches differ.
    shared = moved.pop() if len(moved) == 1 else None
    edges = [
        edge.model_copy(update={"source": node_id, "condition": None if shared is not None else edge.condition})
        if edge.source == place
        else edge
        for edge in document.edges
    ]
    return _with(document, edges=[*edges, WorkflowEdge(source=place, target=node_id, condition=shared)])


def insert_before(document: WorkflowDocument, node_id: str, place: str) -> WorkflowDocument:
    """Take the first input of `place`, and become its input instead."""
    edges = list(document.edges)
    former = next((number for number, edge in enumerate(edges) if edge.target == place), None)
    own = WorkflowEdge(source=node_id, target=place)
    if former is None:
        return _with(document, edges=[*edges, own])
    incoming = edges[former].model_copy(update={"target": node_id})
    edges[former] = own
    return _with(document, edges=[*edges, incoming])


def append_to_outputs(document: WorkflowDocument, node_id: str, has_many_inputs: bool) -> WorkflowDocument:
    """Take the outputs of the workflow as inputs, all of them or the first; beside a message its own input."""
    types = {node.id: node.type for node in document.nodes}
    outputs = list(
        dict.fromkeys(
            source
            for output in find_outputs(document)
            if output != node_id
            for source in (document.inputs_of(output)[:1] if types[output] == "notify" else [output])
        )
    )
    sources = outputs if has_many_inputs else outputs[:1]
    return _with(
        document, edges=[*document.edges, *(WorkflowEdge(source=end, target=node_id) for end in sources)]
    )


def remove_node(document: WorkflowDocument, node_id: str) -> WorkflowDocument:
    """Remove a node; what took its output takes its first input instead, on the condition of that."""
    before = document.edges_to(node_id)
    edges = []
    for edge in document.edges:
        if edge.target == node_id or (edge.source == node_id and not before):
            continue
        if edge.source == node_id:
            # An edge has one condition: that before the removed node decided about both.
            condition = before[0].condition or edge.condition
            moved = edge.model_copy(update={"source": before[0].source, "condition": condition})
        else:
            moved = edge
        # What took the output twice, or took the first input already, gets it once.
        if moved not in edges:
            edges.append(moved)
    return _with(document, nodes=[node for node in document.nodes if node.id != node_id], edges=edges)


def detach_node(document: WorkflowDocument, node_id: str) -> WorkflowDocument:
    """Take a node out of its chain without removing it."""
    node = next(node for node in document.nodes if node.id == node_id)
    removed = remove_node(document, node_id)
    position = document.nodes.index(node)
    return _with(removed, nodes=[*removed.nodes[:position], node, *removed.nodes[position:]])


def set_config(document: WorkflowDocument, node_id: str, config: Mapping[str, Any]) -> WorkflowDocument:
    nodes = [
        node.model_copy(update={"config": dict(config)}) if node.id == node_id else node
        for node in document.nodes
    ]
    return _with(document, nodes=nodes)


def set_limit(document: WorkflowDocument, node_id: str, key: str, value: float) -> WorkflowDocument:
    """Set the `retries` or `timeout_s` of a node."""
    nodes = [
        Node.model_validate({**node.model_dump(), key: value}) if node.id == node_id else node
        for node in document.nodes
    ]
    return _with(document, nodes=nodes)


def rename_node(document: WorkflowDocument, old: str, name: str) -> WorkflowDocument:
    new = new_id(document, name)
    nodes = [node.model_copy(update={"id": new}) if node.id == old else node for node in document.nodes]
    edges = [
        edge.model_copy(
            update={
                "source": new if edge.source == old else edge.source,
                "target": new if edge.target == old else edge.target,
            }
        )
        for edge in document.edges
    ]
    return _with(document, nodes=nodes, edges=edges)


def _with(
    document: WorkflowDocument, nodes: list[Node] | None = None, edges: list[WorkflowEdge] | None = None
) -> WorkflowDocument:
    return WorkflowDocument(
        nodes=document.nodes if nodes is None else nodes, edges=document.edges if edges is None else edges
    )
