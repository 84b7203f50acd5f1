"""The wait of a session for the end of another one, as columns of its row.

`after_id` names the session, `wait_until` is when the wait ends without it. `hand_back` frees the place of a
session that waits, and the end of the other one, or the sweeper after `wait_until`, wakes it.
"""

from typing import NamedTuple
from uuid import UUID

from app.sessions.fenced_writer import FencedWriter, WriteResult, make_fenced_statement
from app.sessions.lease import LeaseLost
from app.sessions.statements import JOURNAL

_GUARD = JOURNAL.guard.replace("crashes = 0,", f"crashes = 0, {JOURNAL.wait_columns.strip()},")


class Wait(NamedTuple):
    is_open: bool
    write: WriteResult


async def join_wait(writer: FencedWriter, seq: int, session_id: UUID, timeout_s: float) -> Wait:
    """Begin to wait for a session, or go on; stop if it has ended or the wait took too long. Raises LeaseLost.

    A step that runs again after a crash goes on with the wait that it began.
    """
    write = await writer.write(make_fenced_statement("", _GUARD), seq, (), session_id, timeout_s)
    if write is None:
        raise LeaseLost
    return Wait(bool(await writer.db.value(JOURNAL.is_waiting, writer.lease.facts.id)), write)
