"""The triggers of a workflow as its owner reads them: in words, with their next times."""

from collections.abc import Mapping
from datetime import datetime
from itertools import islice
from typing import NamedTuple
from uuid import UUID

from pydantic import ValidationError

from app.db.pool import Database
from app.workflows.document import Node, WorkflowDocument
from app.workflows.node_configs import Trigger
from app.workflows.schedule_text import describe_trigger
from app.workflows.schemas import TriggerView, WorkflowView
from app.workflows.statements import TRIGGERS
from app.workflows.triggers.ticks import list_ticks

MAX_NEXT_TICKS = 5
"""Next times of a trigger: they show a week of weekdays."""


class TriggerRecord(NamedTuple):
    """A stored trigger. `config`: JSON. `next_at`: None until a sweep has read it."""

    node_id: str
    config: str
    next_at: datetime | None
    last_tick: datetime | None


async def list_triggers(db: Database, workflow: WorkflowView, owner: UUID) -> list[TriggerView]:
    """List the triggers of a workflow in the order of its nodes."""
    rows = await db.rows(TRIGGERS.list_triggers, workflow.id, owner)
    records = {record.node_id: record for record in (TriggerRecord(**row) for row in rows)}
    return make_views(workflow.document, records)


def make_views(document: WorkflowDocument, records: Mapping[str, TriggerRecord]) -> list[TriggerView]:
    """Describe the triggers of a document, without those whose configuration is wrong.

    A schedule has next times before a sweep has read it, too.
    """
    views = []
    for node in document.nodes:
        trigger = read_trigger(node)
        if trigger is None:
            continue
        record = records.get(node.id)
        views.append(
            TriggerView(
                node=node.id,
                kind=trigger.kind,
                text=describe_trigger(trigger),
                next_ticks=_list_next(trigger, record.next_at if record else None),
                last_tick=record.last_tick if record else None,
            )
        )
    return views


def read_trigger(node: Node) -> Trigger | None:
    """Read the configuration of a trigger; None for other nodes and for one that is wrong."""
    try:
        return Trigger.model_validate(node.config) if node.type == "trigger" else None
    except ValidationError:
        return None


def _list_next(trigger: Trigger, next_at: datetime | None) -> list[datetime]:
    if not trigger.enabled:
        return []
    if next_at is None:
        return trigger.next_ticks(MAX_NEXT_TICKS)
    return [next_at, *islice(list_ticks(trigger, next_at), MAX_NEXT_TICKS - 1)]
