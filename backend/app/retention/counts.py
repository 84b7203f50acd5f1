"""What an operator watches of deletions and of sessions that nobody can drive, for the whole service."""

from dataclasses import dataclass

from app.db.pool import Database

_COUNT = """
select (select count(*) from deletions where done_at is null) as deletions_open,
  (select count(*) from sessions where ended_at is null and stranded_at is not null) as sessions_stranded
"""


@dataclass(frozen=True)
class Census:
    deletions_open: int
    sessions_stranded: int


async def census(db: Database) -> Census:
    row = await db.row(_COUNT)
    return Census(**row) if row else Census(0, 0)
