"""How many sessions stand where, and what waits for a worker or for a place.

Both statements read a partial index of what has not ended: they cost as much as there is work, not history.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.db.pool import Database, Record
from app.jobs import QUEUES, JobName
from app.sessions.lifecycle import TERMINAL, SessionStatus

_SESSIONS = """
select status, count(*) as sessions,
  count(*) filter (where (admitted_at is not null or cancel)
    and ((lease_until is null and wake > seen) or lease_until < now())) as due,
  count(*) filter (where admitted_at is null and not cancel and wake > seen) as in_line,
  coalesce(max(extract(epoch from now() - queued_at))
    filter (where admitted_at is null and not cancel and wake > seen), 0)::float8 as in_line_s
from sessions where ended_at is null group by status
"""

_FITS = """
select count(*) filter (where status = 'queued' or lease_until < now()) as due
from fits where status in ('queued', 'running')
"""


@dataclass(frozen=True)
class Census:
    """`due`: what a worker could take now, by queue. `in_line_s`: how long the first in line has waited."""

    sessions: Mapping[str, int]
    due: Mapping[str, int]
    in_line: int
    in_line_s: float


async def census(db: Database) -> Census:
    sessions = await db.rows(_SESSIONS)
    fits = await db.row(_FITS)
    return _counted(sessions, int(fits["due"]) if fits else 0)


def _counted(rows: Sequence[Record], fits_due: int) -> Census:
    """Every status that is not an end is named, with 0 where nothing stands there."""
    nowhere = {str(status): 0 for status in SessionStatus if status not in TERMINAL}
    return Census(
        sessions=nowhere | {row["status"]: row["sessions"] for row in rows},
        due={
            QUEUES[JobName.ADVANCE]: sum(row["due"] for row in rows),
            QUEUES[JobName.FIT]: fits_due,
        },
        in_line=sum(row["in_line"] for row in rows),
        in_line_s=max((row["in_line_s"] for row in rows), default=0.0),
    )
