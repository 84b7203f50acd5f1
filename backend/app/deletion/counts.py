"""Counts of open deletions and stranded sessions, for metrics."""

from dataclasses import dataclass

from app.db.pool import Database

_COUNT = """
select (select count(*) from deletions where done_at is null) as deletions_open,
  (select count(*) from sessions where ended_at is null and stranded_at is not null) as sessions_stranded
"""


@dataclass(frozen=True)
class PendingCounts:
    """`sessions_stranded`: sessions whose graph version no live worker can run."""

    deletions_open: int
    sessions_stranded: int


async def count_pending(db: Database) -> PendingCounts:
    row = await db.row(_COUNT)
    return PendingCounts(**row) if row else PendingCounts(0, 0)
