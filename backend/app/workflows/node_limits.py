"""Checks of retries and time limits of nodes: each has to have an effect where it stands."""

from collections.abc import Iterator, Mapping

from app.workflows.document import Node, WorkflowDocument
from app.workflows.faults import WorkflowFault
from app.workflows.fusion import parse
from app.workflows.item_documents import make_item_document, name_item, select_item
from app.workflows.node_configs import ForEach
from app.workflows.stages import list_item_stages, list_stages

_WAITS = "it does nothing that could fail or last."
_INSIDE = "set it on the nodes in it."
_REFUSED: Mapping[str, Mapping[str, str]] = {
    "retries": {
        "trigger": _WAITS,
        "payload": _WAITS,
        "approve": _WAITS,
        "for_each": _INSIDE,
        "http_request": "set `config/retries`, which sends again only what may be repeated.",
        "notify": "set `config/retries`, which sends again only what may be repeated.",
    },
    "timeout_s": {
        "trigger": _WAITS,
        "payload": _WAITS,
        "approve": "it waits for a person, as long as the run lives.",
        "for_each": _INSIDE,
        "http_request": "set `config/timeout_s`.",
        "notify": "a message that was given up may have been sent.",
        "study": "set `config/timeout_s`.",
    },
}
"""Limit -> type of a node that cannot have it -> the reason, or the setting to use."""


def list_limits(node: Node) -> list[str]:
    """List the limits that a node has."""
    return [name for name in _REFUSED if getattr(node, name)]


def can_have_limit(node: Node, name: str) -> bool:
    """Check if a type of node may have a limit by itself, beside those of its configuration."""
    return node.type not in _REFUSED[name]


def find_limit_faults(document: WorkflowDocument) -> Iterator[WorkflowFault]:
    """Find limits without an effect in a document that has no other faults of its form."""
    stages = list_stages(document)
    for place, node in enumerate(document.nodes):
        yield from _find_faults(node, f"/nodes/{place}", node.id in stages)
        config = parse(node)
        if isinstance(config, ForEach):
            # Which nodes are stages depends on neither the number of the item nor its value.
            item = make_item_document(document, node, config, 0, select_item(config.column, None, "text"))
            inner_stages = list_item_stages(item, name_item(node.id, 0), config)
            for inner_place, inner in enumerate(config.nodes):
                is_stage = f"{name_item(node.id, 0)}-{inner.id}" in inner_stages
                yield from _find_faults(inner, f"/nodes/{place}/config/nodes/{inner_place}", is_stage)


def _find_faults(node: Node, pointer: str, is_stage: bool) -> Iterator[WorkflowFault]:
    for name in list_limits(node):
        reason = _REFUSED[name].get(node.type)
        if reason is None and not is_stage:
            reason = "it is a part of the query of a node behind it: set it there."
        if reason is not None:
            message = f"{node.id} ({node.type}) cannot have {name}: {reason}"
            yield WorkflowFault(pointer=f"{pointer}/{name}", code="limit_without_effect", message=message)
