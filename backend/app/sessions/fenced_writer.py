"""One statement behind a session's fence: the only way a driver writes.

It first moves the session's row, guarded by fence and step, so a driver that lost its lease writes nothing and
what it would have left never happened. It numbers the events it inserts, renews the lease and reads how the
session stands, all in one round trip.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import asyncpg

from app.db.pool import Database
from app.sessions.events.events import Durable
from app.sessions.events.serialization import EventMessage, dump_event, make_event_message
from app.sessions.lease import DriveSignal, Lease, LeaseLost, make_drive_signal
from app.sessions.statements import JOURNAL

GUARD_STEP = JOURNAL.guard.replace("crashes = 0,", "crashes = 0, last_seq = $3,")


def make_fenced_statement(inserts: str, guard: str = JOURNAL.guard) -> str:
    """The whole statement around `, name as (insert ... select ... from s)` parts."""
    return f"{guard}{inserts}\n{JOURNAL.fenced_result}"


@dataclass(frozen=True)
class WriteResult:
    """What became of a write: how the session stands, and the events that watchers may be told of now."""

    signal: DriveSignal
    messages: Sequence[EventMessage]


@dataclass(frozen=True)
class FencedWriter:
    """A driver's hold on its session, as its statements need it."""

    db: Database
    lease: Lease
    lease_s: float

    async def write(self, sql: str, seq: int, events: Sequence[Durable], *args: object) -> WriteResult | None:
        """Run one such statement. None: its guard said no, or what it writes is there already."""
        at = datetime.now(UTC)
        kinds = [event.kind for event in events]
        bodies = [dump_event(event) for event in events]
        lease = self.lease
        try:
            row = await self.db.row(
                sql, lease.facts.id, lease.fence, seq, self.lease_s, at, kinds, bodies, *args
            )
        except asyncpg.UniqueViolationError:
            return None
        if row is None:
            return None
        first = row["event_seq"] - len(kinds) + 1
        seen = [make_event_message(first + i, at, kinds[i], body) for i, body in enumerate(bodies)]
        return WriteResult(make_drive_signal(row["cancel"], row["overdue"]), seen)

    async def confirm_own_write(self, sql: str, *args: object) -> WriteResult:
        """A lost reply of our own write looks like a lost lease: `sql` asks for its fence. Raises LeaseLost."""
        row = await self.db.row(sql, self.lease.facts.id, *args)
        if row is None or row["fence"] != self.lease.fence:
            raise LeaseLost
        return WriteResult(DriveSignal.GO_ON, ())
