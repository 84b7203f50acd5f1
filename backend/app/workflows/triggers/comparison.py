"""Differences between two versions of a workflow as its owner reads them: triggers in words."""

import asyncio

from app.workflows.differences import TriggerChange, WorkflowDifference, compare_documents
from app.workflows.document import Node, WorkflowDocument
from app.workflows.schedule_text import describe_trigger
from app.workflows.triggers.views import read_trigger


async def compare_versions(before: WorkflowDocument, after: WorkflowDocument) -> WorkflowDifference:
    """Compare two documents, with their triggers in words."""
    # In a thread: reading 500 schedules of rare days takes seconds.
    return await asyncio.to_thread(_compare, before, after)


def _compare(before: WorkflowDocument, after: WorkflowDocument) -> WorkflowDifference:
    difference = compare_documents(before, after)
    pairs: list[tuple[Node | None, Node | None]] = [
        *((None, node) for node in difference.nodes_added),
        *((node, None) for node in difference.nodes_removed),
        *((change.before, change.after) for change in difference.nodes_changed),
    ]
    changes = [_compare_triggers(*pair) for pair in pairs]
    return difference.model_copy(update={"triggers": [change for change in changes if change is not None]})


def _compare_triggers(before: Node | None, after: Node | None) -> TriggerChange | None:
    node = after or before
    texts = (_describe(before), _describe(after))
    if node is None or texts == (None, None):
        return None
    return TriggerChange(node=node.id, before=texts[0], after=texts[1])


def _describe(node: Node | None) -> str | None:
    trigger = read_trigger(node) if node is not None else None
    return None if trigger is None else describe_trigger(trigger)
