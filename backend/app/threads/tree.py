"""The tree of a thread: its turns with their parents, and its worldlines with their heads."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from app.threads.queries import ThreadReader, find_status
from app.threads.schemas import Mode, ThreadTree, TreeTurn
from app.threads.service import make_not_found, make_turn_not_found
from app.threads.statements import THREADS


class TreeRow(NamedTuple):
    """A turn. `studies`: JSON of the ids of those that it started, None without one."""

    turn_id: UUID
    parent_id: UUID | None
    worldline_id: UUID | None
    mode: Mode
    message: str
    status: str
    created_at: datetime
    ended_at: datetime | None
    is_waiting: bool
    has_question: bool
    has_failed: bool
    studies: str | None


@dataclass(frozen=True)
class ThreadTrees:
    """Reads the trees of one owner's threads."""

    threads: ThreadReader

    async def read(self, thread_id: UUID, after: UUID | None, limit: int) -> ThreadTree:
        """Return the first `limit` turns of a thread, or those after the turn `after`. Raises NotFound."""
        worldlines = await self.threads.list_worldlines(thread_id)
        if not worldlines:
            raise make_not_found(thread_id)
        if after is not None and (await self.threads.get_turn(after)).thread_id != thread_id:
            raise make_turn_not_found(after)
        # The row beyond the limit tells that there are more.
        rows = await self.threads.db.rows(THREADS.list_tree, thread_id, after, limit + 1)
        turns = [_make_turn(TreeRow(**row)) for row in rows[:limit]]
        return ThreadTree(
            thread_id=thread_id,
            worldlines=worldlines,
            turns=turns,
            next=turns[-1].turn_id if len(rows) > limit else None,
        )


def _make_turn(row: TreeRow) -> TreeTurn:
    return TreeTurn(
        turn_id=row.turn_id,
        parent_id=row.parent_id,
        worldline_id=row.worldline_id,
        mode=row.mode,
        message=row.message,
        status=find_status(
            row.status,
            is_waiting=row.is_waiting,
            has_question=row.has_question,
            has_failed=row.has_failed,
        ),
        studies=json.loads(row.studies) if row.studies else [],
        created_at=row.created_at,
        ended_at=row.ended_at,
    )
