"""How many sessions stand where, and what waits for a worker or for a place.

Both statements read a partial index of what has not ended: they cost as much as there is work, not history.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.db.pool import Database, Record
from app.jobs import QUEUES, JobName
from app.sessions.lifecycle import TERMINAL, SessionStatus
from app.sessions.statements import VIEWS


@dataclass(frozen=True)
class SessionCounts:
    """`due`: what a worker could take now, by queue. `in_line_s`: how long the first in line has waited."""

    by_status: Mapping[str, int]
    due_by_queue: Mapping[str, int]
    queue_length: int
    queue_wait_s: float


async def count_sessions(db: Database) -> SessionCounts:
    sessions = await db.rows(VIEWS.count_by_status)
    fits = await db.row(VIEWS.count_open_fits)
    return _counted(sessions, int(fits["due"]) if fits else 0)


def _counted(rows: Sequence[Record], fits_due: int) -> SessionCounts:
    """Every status that is not an end is named, with 0 where nothing stands there."""
    nowhere = {str(status): 0 for status in SessionStatus if status not in TERMINAL}
    return SessionCounts(
        by_status=nowhere | {row["status"]: row["sessions"] for row in rows},
        due_by_queue={
            QUEUES[JobName.ADVANCE]: sum(row["due"] for row in rows),
            QUEUES[JobName.FIT]: fits_due,
        },
        queue_length=sum(row["in_line"] for row in rows),
        queue_wait_s=max((row["in_line_s"] for row in rows), default=0.0),
    )
