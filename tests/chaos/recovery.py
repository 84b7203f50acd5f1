"""Sessions that a fault touched, and the time until each went on, as its client observed it."""

import time
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.chaos.client import Client
from tests.chaos.plan import Fault
from tests.chaos.work_log import WorkEntry, WorkLogReader

from app.db.pool import Database, Record

_ALIVE = """
select s.id::text as id, s.event_seq, s.lease_until > now() as driven, exists (
  select from fits f where f.session_id = s.id and f.status in ('queued', 'running')) as fitting
from sessions s where s.ended_at is null and (s.admitted_at is not null or s.status = 'awaiting_user')
"""


@dataclass(frozen=True)
class Struck:
    """One fault as it happened. `touched`: session -> the number of its newest event before."""

    kind: str
    at: float
    touched: Mapping[str, int]


@dataclass
class Observer:
    """Looks at the database over no link, just before each fault."""

    db: Database
    work_log: WorkLogReader
    struck: list[Struck] = field(default_factory=list)

    async def look(self, kind: str, fault: Fault | None) -> Struck:
        """List the sessions that a fault would touch now."""
        self.work_log.read()
        rows = await self.db.rows(_ALIVE)
        newest = self.work_log.newest()
        touches = _TOUCHES.get(kind, _everybody)
        touched = {row["id"]: row["event_seq"] for row in rows if touches(row, newest.get(row["id"]), fault)}
        return Struck(kind, time.monotonic(), touched)


Touches = Callable[[Record, WorkEntry | None, Fault | None], bool]


def _everybody(row: Record, entry: WorkEntry | None, fault: Fault | None) -> bool:
    return True


def _driven_by(row: Record, entry: WorkEntry | None, fault: Fault | None) -> bool:
    """Its newest step was taken up by the victim."""
    return bool(row["driven"] and entry and fault and entry.worker == fault.victim)


def _fitting(row: Record, entry: WorkEntry | None, fault: Fault | None) -> bool:
    return bool(row["fitting"])


def _computing(row: Record, entry: WorkEntry | None, fault: Fault | None) -> bool:
    """A fit is open, or a call of its own has begun work."""
    return bool(row["fitting"] or (entry and entry.kind == "begin"))


_TOUCHES: Mapping[str, Touches] = {
    "SIGKILL worker (steps)": _driven_by,
    "SIGSTOP worker (steps)": _driven_by,
    "SIGTERM worker": _driven_by,
    "clock jumps": _driven_by,
    "SIGKILL worker (compute)": _fitting,
    "SIGSTOP worker (compute)": _fitting,
    "SIGKILL zygote": _computing,
    "SIGSTOP zygote": _computing,
    "SIGKILL cell": _computing,
    "SIGSTOP cell": _computing,
}


@dataclass(frozen=True)
class Recovery:
    """Faults of one kind, the sessions that they touched in all, and the seconds until each went on."""

    kind: str
    faults: int
    touched: int
    seconds: Sequence[float]


def recoveries(struck: Sequence[Struck], clients: Sequence[Client]) -> list[Recovery]:
    by_session = {client.session: client for client in clients if client.session}
    kinds = sorted({fault.kind for fault in struck})
    return [_recovery(kind, [fault for fault in struck if fault.kind == kind], by_session) for kind in kinds]


def _recovery(kind: str, struck: Sequence[Struck], clients: Mapping[str, Client]) -> Recovery:
    seconds = []
    for struck_fault in struck:
        for session, newest in struck_fault.touched.items():
            if client := clients.get(session):
                events = client.events
                place = bisect_right(events, newest, key=lambda event: event.n)
                if place < len(events):
                    seconds.append(max(0.0, events[place].at - struck_fault.at))
    return Recovery(
        kind, len(struck), sum(len(struck_fault.touched) for struck_fault in struck), sorted(seconds)
    )
