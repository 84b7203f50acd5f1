"""The wait of a session for the end of another one or for a time, as columns of its row.

`after_id` names the session, `wait_until` is when the wait ends without it, or the time itself. `hand_back`
frees the place of a session that waits, and the end of the other one, a question of it, or the sweeper after
`wait_until`, wakes it.
"""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from app.sessions.fenced_writer import FencedWriter, WriteResult, make_fenced_statement
from app.sessions.lease import LeaseLost
from app.sessions.statements import JOURNAL


def _make_guard(columns: str) -> str:
    # In the guard's own UPDATE: Postgres ignores a second update of a row in the same statement.
    return JOURNAL.guard.replace("crashes = 0,", f"crashes = 0, {columns.strip()},")


_GUARD = _make_guard(JOURNAL.wait_columns)
_TIME_GUARD = _make_guard(JOURNAL.time_wait_columns)


class Wait(NamedTuple):
    is_open: bool
    write: WriteResult


async def join_wait(
    writer: FencedWriter, seq: int, session_id: UUID, timeout_s: float, until_question: bool
) -> Wait:
    """Begin to wait for a session, or go on; stop if it has ended or the wait took too long. Raises LeaseLost.

    `until_question`: stop if it waits for its user, too.
    A step that runs again after a crash goes on with the wait that it began.
    """
    write = await writer.write(
        make_fenced_statement("", _GUARD), seq, (), session_id, timeout_s, until_question
    )
    if write is None:
        raise LeaseLost
    return Wait(bool(await writer.db.value(JOURNAL.is_waiting, writer.lease.facts.id)), write)


async def join_time_wait(writer: FencedWriter, seq: int, until: datetime) -> Wait:
    """Begin to wait for a time, or end the wait once it has come by Postgres' clock. Raises LeaseLost."""
    write = await writer.write(make_fenced_statement("", _TIME_GUARD), seq, (), until)
    if write is None:
        raise LeaseLost
    return Wait(bool(await writer.db.value(JOURNAL.is_waiting, writer.lease.facts.id)), write)


async def wake_waiting(writer: FencedWriter) -> list[UUID]:
    """Wake the sessions that wait for this one, which asks its user, and return them to be queued."""
    rows = await writer.db.rows(JOURNAL.wake_waiting, writer.lease.facts.id)
    return [row["id"] for row in rows]
