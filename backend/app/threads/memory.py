"""The memory of a conversation: what the assistant is told about the turns before."""

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from app.agents.assistant.brief import EarlierTurn, LastChart
from app.db.pool import Database
from app.json_types import JsonValue
from app.modeling.facts.conversion import dump_facts
from app.sessions.step_scope import SessionFacts
from app.threads.queries import ThreadReader, TurnRecord, make_turn_view
from app.threads.schemas import TurnView

MAX_TEXT_CHARS = 2_000
"""Characters of a message, an answer or a snippet of code that the memory keeps: about 500 tokens."""


@dataclass(frozen=True)
class ThreadMemory:
    """Reads the turns before a turn. `window`: the number of turns."""

    db: Database
    window: int

    async def read(self, facts: SessionFacts) -> list[JsonValue]:
        """Return the turns before a turn, oldest first, as JSON of `EarlierTurn`."""
        parent = facts.preferences.get("parent_id")
        if parent is None:
            return []
        path = await ThreadReader(self.db, facts.owner_id).list_path(UUID(parent), self.window)
        return [dump_facts(_recall(record)) for record in reversed(path)]


def _recall(record: TurnRecord) -> EarlierTurn:
    view = make_turn_view(record)
    return EarlierTurn(
        message=shorten(view.message),
        mode=view.mode,
        text=shorten(view.text),
        # Names without rows: rows cost tokens with every later turn, and the assistant can query them again.
        columns=[column.name for column in view.table.columns] if view.table else [],
        row_count=view.table.row_count if view.table else None,
        sql=view.sql,
        plan=bound_plan(view.plan.model_dump(mode="json", exclude_unset=True) if view.plan else None),
        code=shorten(view.code) if view.code else None,
        chart=LastChart(view.charts[-1].chart_kind, **view.charts[-1].axes.model_dump())
        if view.charts
        else None,
        # A dropped table cannot be what a later "it" refers to.
        changed=[change.name for change in view.changes if change.kind != "dropped"],
        failure=view.failure.message if view.failure else None,
        steps=view.steps,
        workflow=_find_workflow(view),
        run=str(view.run.id) if view.run else None,
    )


def _find_workflow(view: TurnView) -> str | None:
    if view.workflow is not None:
        return str(view.workflow.id)
    return str(view.run.workflow) if view.run else None


def shorten(text: str) -> str:
    return text if len(text) <= MAX_TEXT_CHARS else text[:MAX_TEXT_CHARS] + "…"


def bound_plan(plan: dict[str, Any] | None) -> dict[str, Any] | None:
    """Leave out a plan that is too large to be continued."""
    return plan if plan and len(json.dumps(plan)) <= 5 * MAX_TEXT_CHARS else None
