"""Periodic work that one process of the fleet does: the one that advances its due time."""

from app.db.pool import Database

# Of two processes at once the second finds the time moved on, and gets no row.
_CLAIM = """
insert into chores (name, due_at) values ($1, now() + $2 * interval '1 second')
on conflict (name) do update set due_at = excluded.due_at where chores.due_at <= now()
returning name
"""
_POSTPONE = """
insert into chores (name, due_at) values ($1, now() + $2 * interval '1 second')
on conflict (name) do update set due_at = greatest(chores.due_at, excluded.due_at)
returning name
"""


async def claim_chore(db: Database, name: str, every_s: float) -> bool:
    """Claim a chore for `every_s`; False when it is not due. After a crash it is due again the next time."""
    return await db.row(_CLAIM, name, every_s) is not None


async def postpone_chore(db: Database, name: str, for_s: float) -> None:
    """Let no process claim a chore for `for_s` seconds."""
    await db.row(_POSTPONE, name, for_s)
