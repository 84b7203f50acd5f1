"""The memory of a conversation: what the assistant is told about the turns before."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from app.agents.assistant.brief import EarlierTurn, LastChart
from app.db.pool import Database
from app.json_types import JsonValue
from app.modeling.facts.conversion import dump_facts
from app.sessions.step_scope import SessionFacts
from app.threads.queries import ThreadReader, TurnRecord, make_turn_view
from app.threads.schemas import TurnView
from app.threads.statements import THREADS

MAX_TEXT_CHARS = 2_000
"""Characters of a message, an answer or a snippet of code that the memory keeps: about 500 tokens."""


MAX_SUMMARIZED_TURNS = 100
"""Turns before the window that are summarized: as many lines."""
MAX_LINE_CHARS = 200
"""Characters of a message or an answer in the summary: its first sentence or two."""
MAX_SUMMARY_CHARS = 6_000
"""Characters of the summary: about 1,500 tokens of each prompt."""


class BeforeTurn(NamedTuple):
    """A turn before the window. `is_first`: no turn is before it."""

    message: str
    answer: str | None
    is_first: bool


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

    async def summarize(self, facts: SessionFacts) -> str:
        """Return a line for each turn before those of `read`, oldest first; empty without one."""
        parent = facts.preferences.get("parent_id")
        if parent is None:
            return ""
        rows = await self.db.rows(
            THREADS.list_before, UUID(parent), facts.owner_id, self.window, MAX_SUMMARIZED_TURNS, MAX_LINE_CHARS
        )
        return summarize([BeforeTurn(**row) for row in rows])


def summarize(turns: Sequence[BeforeTurn]) -> str:
    """Write a line for each turn. `turns`: newest first; the oldest are left out above MAX_SUMMARY_CHARS."""
    lines: list[str] = []
    left_chars = MAX_SUMMARY_CHARS
    for turn in turns:
        line = f"- {_flatten(turn.message)} -> {_flatten(turn.answer or 'no answer')}"
        left_chars -= len(line) + 1
        if left_chars < 0:
            break
        lines.append(line)
    if turns and (len(lines) < len(turns) or not turns[-1].is_first):
        lines.append("- (messages before these are left out)")
    return "\n".join(reversed(lines))


def _flatten(text: str) -> str:
    words = " ".join(text.split())
    return f"{words}…" if len(text) >= MAX_LINE_CHARS else words


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
        changes_tables=bool(view.changes),
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
