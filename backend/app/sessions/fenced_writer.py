"""One statement behind a session's fence: the only way a driver writes.

It first updates the session's row, guarded by fence and step, so a driver that lost its lease writes nothing.
It numbers the events that it inserts, renews the lease and reads whether the session has to stop, all in one
round trip.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

import asyncpg

from app.db.pool import Database
from app.sessions.events.events import Durable
from app.sessions.events.serialization import EventMessage, dump_event, make_event_message
from app.sessions.lease import DriveSignal, Lease, LeaseLost, make_drive_signal
from app.sessions.statements import JOURNAL

# Only the commit of a step moves `last_seq`: calls,
# questions and rounds belong to the step that is still open.
GUARD_STEP = JOURNAL.guard.replace("crashes = 0,", "crashes = 0, last_seq = $3,")


def make_fenced_statement(inserts: str, guard: str = JOURNAL.guard) -> str:
    """Assemble a statement around parts of the form `, name as (insert ... select ... from s)`."""
    return f"{guard}{inserts}\n{JOURNAL.fenced_result}"


@dataclass(frozen=True)
class WriteResult:
    """Effect of a write: whether the session has to stop, and the events to publish."""

    signal: DriveSignal
    messages: Sequence[EventMessage]


class WriteRow(NamedTuple):
    """`event_seq`: number of the last event that the statement inserted."""

    event_seq: int
    cancel: bool
    overdue: bool | None
    paused: bool


class FenceRow(NamedTuple):
    fence: int


@dataclass(frozen=True)
class FencedWriter:
    """Writes to one session behind the fence of a lease. `lease_s`: seconds by which a write renews it."""

    db: Database
    lease: Lease
    lease_s: float

    async def write(self, sql: str, seq: int, events: Sequence[Durable], *args: object) -> WriteResult | None:
        """Run a statement of `make_fenced_statement`. None if its guard fails or its rows exist already."""
        # One time for the rows and the messages: watchers see the same event from either.
        at = datetime.now(UTC)
        kinds = [event.kind for event in events]
        bodies = [dump_event(event) for event in events]
        lease = self.lease
        try:
            row = await self.db.row(
                sql, lease.facts.id, lease.fence, seq, self.lease_s, at, kinds, bodies, *args
            )
        # A call that is sent again after a lost reply passes
        # the guard, which only the commit of a step moves on.
        except asyncpg.UniqueViolationError:
            return None
        if row is None:
            return None
        counters = WriteRow(**row)
        first = counters.event_seq - len(kinds) + 1
        messages = [make_event_message(first + i, at, kinds[i], body) for i, body in enumerate(bodies)]
        return WriteResult(make_drive_signal(counters.cancel, counters.overdue, counters.paused), messages)

    async def confirm_own_write(self, sql: str, *args: object) -> WriteResult:
        """Accept a refused write whose rows bear this lease's fence. Raises LeaseLost.

        A write whose reply was lost is sent again and refused, which looks like a lost lease. `sql` selects
        the `fence` of its rows.
        """
        row = await self.db.row(sql, self.lease.facts.id, *args)
        if row is None or FenceRow(**row).fence != self.lease.fence:
            raise LeaseLost
        # Its events are rows, which watchers find; the next write or renewal reads whether to stop.
        return WriteResult(DriveSignal.GO_ON, ())
