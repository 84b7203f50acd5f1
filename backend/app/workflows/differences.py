"""Readable differences between two versions of a workflow."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from app.workflows.document import EdgeCondition, Node, WorkflowDocument, WorkflowEdge, nodes_by_id


class NodeChange(BaseModel):
    """A node of both versions, before and after."""

    id: str
    before: Node
    after: Node


class EdgeChange(BaseModel):
    """An edge of both versions whose condition differs."""

    model_config = ConfigDict(populate_by_name=True)

    source: str = Field(alias="from")
    target: str = Field(alias="to")
    before: EdgeCondition | None
    after: EdgeCondition | None


class TriggerChange(BaseModel):
    """A trigger that was added, removed or changed, in words; null on a side that does not have it."""

    node: str
    before: str | None = Field(examples=["every weekday at 8:00, Europe/Berlin"])
    after: str | None


class WorkflowDifference(BaseModel):
    """Nodes are matched by their ids, edges by their ends; an order that changed is no difference."""

    nodes_added: list[Node] = Field(default_factory=list)
    nodes_removed: list[Node] = Field(default_factory=list)
    nodes_changed: list[NodeChange] = Field(default_factory=list)
    edges_added: list[WorkflowEdge] = Field(default_factory=list)
    edges_removed: list[WorkflowEdge] = Field(default_factory=list)
    edges_changed: list[EdgeChange] = Field(default_factory=list)
    triggers: list[TriggerChange] = Field(
        default_factory=list, description="The triggers that differ, in words."
    )
    text: str = Field(default="", description="The same in lines: `+` added, `-` removed, `~` changed.")


def compare_documents(before: WorkflowDocument, after: WorkflowDocument) -> WorkflowDifference:
    old, new = nodes_by_id(before), nodes_by_id(after)
    old_edges, new_edges = _edges_by_ends(before), _edges_by_ends(after)
    difference = WorkflowDifference(
        nodes_added=[node for node in after.nodes if node.id not in old],
        nodes_removed=[node for node in before.nodes if node.id not in new],
        nodes_changed=[
            NodeChange(id=node.id, before=old[node.id], after=node)
            for node in after.nodes
            if node.id in old and old[node.id] != node
        ],
        edges_added=[edge for edge in after.edges if (edge.source, edge.target) not in old_edges],
        edges_removed=[edge for edge in before.edges if (edge.source, edge.target) not in new_edges],
        edges_changed=[
            EdgeChange(source=ends[0], target=ends[1], before=old_edges[ends].condition, after=edge.condition)
            for ends, edge in new_edges.items()
            if ends in old_edges and old_edges[ends].condition != edge.condition
        ],
    )
    return difference.model_copy(update={"text": "\n".join(_lines(difference))})


def _edges_by_ends(document: WorkflowDocument) -> dict[tuple[str, str], WorkflowEdge]:
    return {(edge.source, edge.target): edge for edge in document.edges}


def _lines(difference: WorkflowDifference) -> list[str]:
    return [
        *(f"+ {node.id} ({node.type})" for node in difference.nodes_added),
        *(f"- {node.id} ({node.type})" for node in difference.nodes_removed),
        *(line for change in difference.nodes_changed for line in _change_lines(change)),
        *(f"+ {edge.describe()}" for edge in difference.edges_added),
        *(f"- {edge.describe()}" for edge in difference.edges_removed),
        *(
            f"~ {edge.source} -> {edge.target}: {_describe_condition(edge.before)} -> "
            f"{_describe_condition(edge.after)}"
            for edge in difference.edges_changed
        ),
    ]


def _describe_condition(condition: EdgeCondition | None) -> str:
    return "always" if condition is None else f"if {condition.describe()}"


def _change_lines(change: NodeChange) -> list[str]:
    before, after = _leaves(change.before.model_dump()), _leaves(change.after.model_dump())
    paths = dict.fromkeys((*before, *after))
    return [
        f"~ {change.id} {path}: {before.get(path, 'nothing')} -> {after.get(path, 'nothing')}"
        for path in paths
        if before.get(path) != after.get(path)
    ]


def _leaves(value: Any, path: str = "") -> dict[str, str]:
    """Return the values of JSON by their dotted paths, as text."""
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    )
    # An empty list or object is a value, too: its removal is a difference.
    if not children:
        return {path: str(value)}
    return {
        leaf: text
        for name, child in children
        for leaf, text in _leaves(child, f"{path}.{name}" if path else str(name)).items()
    }
