"""Work that the whole fleet does once in a while: whoever moves its time does it."""

from app.db.pool import Database

_TAKE = """
insert into chores (name, due_at) values ($1, now() + $2 * interval '1 second')
on conflict (name) do update set due_at = excluded.due_at where chores.due_at <= now()
returning name
"""
_PUT_OFF = """
insert into chores (name, due_at) values ($1, now() + $2 * interval '1 second')
on conflict (name) do update set due_at = greatest(chores.due_at, excluded.due_at)
returning name
"""


async def take(db: Database, name: str, every_s: float) -> bool:
    """Whether this process is to do it now. If it dies meanwhile, another does it the next time."""
    return await db.row(_TAKE, name, every_s) is not None


async def put_off(db: Database, name: str, for_s: float) -> None:
    """Nobody begins it for so long."""
    await db.row(_PUT_OFF, name, for_s)
