"""Numbers of sessions by status, and of sessions and fits that wait for a worker.

Both statements read partial indexes of open rows, so their cost grows with open work and not with history.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from app.db.pool import Database
from app.jobs import QUEUES, JobName
from app.sessions.lifecycle import TERMINAL, SessionStatus
from app.sessions.statements import VIEWS


class StatusRow(NamedTuple):
    """`due`: sessions that a worker could claim now. `queue_length`: sessions that wait for admission."""

    status: str
    sessions: int
    due: int
    queue_length: int
    queue_wait_s: float


class FitsRow(NamedTuple):
    due: int


@dataclass(frozen=True)
class SessionCounts:
    """`queue_wait_s`: seconds that the first session of the admission queue has waited."""

    by_status: Mapping[str, int]
    due_by_queue: Mapping[str, int]
    queue_length: int
    queue_wait_s: float


async def count_sessions(db: Database) -> SessionCounts:
    rows = [StatusRow(**row) for row in await db.rows(VIEWS.count_by_status)]
    fits = await db.row(VIEWS.count_open_fits)
    return _sum_counts(rows, FitsRow(**fits).due if fits else 0)


def _sum_counts(rows: Sequence[StatusRow], fits_due: int) -> SessionCounts:
    """Add up the rows. Every live status gets a count, 0 without sessions."""
    zeros = {str(status): 0 for status in SessionStatus if status not in TERMINAL}
    return SessionCounts(
        by_status=zeros | {row.status: row.sessions for row in rows},
        due_by_queue={
            QUEUES[JobName.ADVANCE]: sum(row.due for row in rows),
            QUEUES[JobName.FIT]: fits_due,
        },
        queue_length=sum(row.queue_length for row in rows),
        queue_wait_s=max((row.queue_wait_s for row in rows), default=0.0),
    )
