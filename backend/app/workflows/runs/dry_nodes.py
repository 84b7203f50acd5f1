"""Nodes of dry runs: those that an earlier run has computed, and those with effects, which are left out."""

from collections.abc import Mapping

from app.workflows.document import Node, WorkflowDocument, computes_alike
from app.workflows.item_documents import read_inner_nodes
from app.workflows.node_configs import Approve, HttpRequest
from app.workflows.node_types import NODE_TYPES
from app.workflows.runs.schemas import NodeResult, NodeStatus

WITHOUT_EFFECT = "dry_run"
"""Code of the result of a node that a dry run leaves out."""
_EFFECTS = frozenset({"notify", "store", "study", "agent"})
"""Types of nodes that reach somebody, that last, or that cost money."""
_PASSING = frozenset({"notify", "store"})
"""Those of them that only pass their input on: what is behind them is run."""


def leave_out(node: Node) -> NodeResult | None:
    """Return the result of a node that a dry run does not carry out; None for one that computes only."""
    if isinstance(_parse(node), Approve):
        return NodeResult(status="done", passes=True, code=WITHOUT_EFFECT, notes=["Taken for approved."])
    if any(_has_effect(part) for part in (node, *read_inner_nodes(node))):
        note = f"A dry run leaves out what {node.type} does."
        status: NodeStatus = "done" if node.type in _PASSING else "skipped"
        return NodeResult(status=status, code=WITHOUT_EFFECT, notes=[note])
    return None


def _has_effect(node: Node) -> bool:
    config = _parse(node)
    return node.type in _EFFECTS or (isinstance(config, HttpRequest) and config.method != "GET")


def _parse(node: Node) -> object:
    return NODE_TYPES[node.type].parse(node.config)


def select_alike(
    results: Mapping[str, NodeResult], former: WorkflowDocument, document: WorkflowDocument
) -> dict[str, NodeResult]:
    """Select the results of an earlier run that the same nodes of another document would come to as well."""
    ids = {node.id for node in document.nodes}
    return {
        node_id: result
        for node_id, result in results.items()
        if node_id in ids and result.status == "done" and computes_alike(former, document, node_id)
    }
