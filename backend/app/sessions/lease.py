"""Who drives a session now: claim, renew, hand back, end.

`wake` counts what a session was given to do; the claim takes note of it in `seen`. Each statement here is one
guarded UPDATE on the database's clock: a driver whose fence is not the newest changes nothing.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from uuid import UUID

from app.db.pool import Database, Record
from app.sessions.config import SessionsConfig
from app.sessions.events.events import SessionCancelled, SessionFailed, SessionFinished
from app.sessions.events.serialization import EventMessage, dump_event, dumps, make_event_message
from app.sessions.lifecycle import SessionStatus
from app.sessions.statements import LIFECYCLE
from app.sessions.step_scope import SessionFacts
from app.sessions.workers import Versions, is_for_others


class LeaseLost(Exception):
    """Somebody else drives this session now, or it has ended: stop, and change nothing."""


class DriveSignal(StrEnum):
    """What a lease holder is told: to go on, or why not."""

    GO_ON = "go_on"
    CANCEL = "cancel"
    OVERDUE = "overdue"
    LOST = "lost"
    """The lease is not ours any more."""
    SHUTDOWN = "shutdown"
    """The worker stops, and the step took too long to wait for."""


def make_drive_signal(cancel: bool, overdue: bool) -> DriveSignal:
    return DriveSignal.CANCEL if cancel else DriveSignal.OVERDUE if overdue else DriveSignal.GO_ON


@dataclass(frozen=True)
class Lease:
    """One hold on a session, from a claim to a release. `started`: the event of its first claim."""

    facts: SessionFacts
    graph: str
    graph_version: int | None
    """None: the driver has no graph of that name."""
    fence: int
    last_seq: int
    crashes: int
    signal: DriveSignal
    started_event: EventMessage | None
    worked_s: float
    """Seconds since the first claim, without the time that the session waited for its user."""
    queued_s: float
    """Seconds from the wish to the first claim."""
    taken_over: bool
    """It was somebody's whose lease ran out."""


Ending = SessionFinished | SessionFailed | SessionCancelled

STATUS_BY_ENDING: dict[type[Ending], SessionStatus] = {
    SessionFinished: SessionStatus.COMPLETED,
    SessionFailed: SessionStatus.FAILED,
    SessionCancelled: SessionStatus.CANCELLED,
}


class Leases:
    def __init__(self, db: Database, config: SessionsConfig, graphs: Versions) -> None:
        self._db = db
        self._config = config
        self._graphs = dumps({name: list(versions) for name, versions in graphs.items()})

    async def claim(self, session_id: UUID) -> Lease | None:
        """A lease, if the session has something to do that this process can, and nobody drives it.

        Ending it, because it was cancelled or nobody could drive it for long, anybody can.
        """
        config = self._config
        row = await self._db.row(
            LIFECYCLE.claim,
            session_id,
            config.lease_s,
            config.time_limit_s,
            self._graphs,
            config.ending_s,
            config.stranded_grace_s,
        )
        return _lease(row) if row else None

    async def is_for_others(self, session_id: UUID) -> bool:
        """Did the claim fail because only other live workers run the session's version of the graph?"""
        return await is_for_others(self._db, session_id, self._graphs)

    async def renew(self, lease: Lease) -> DriveSignal:
        """Raises LeaseLost."""
        row = await self._db.row(LIFECYCLE.renew, lease.facts.id, lease.fence, self._config.lease_s)
        if row is None:
            raise LeaseLost
        return make_drive_signal(row["cancel"], row["overdue"])

    async def hand_back(self, lease: Lease, has_more: bool) -> bool:
        """Give the session back, to go on later (`again`) or to wait. True: it has something to do, queue it.

        Safe to send twice: the second finds the lease gone and says no, and the sweeper sees `wake > seen`.
        """
        row = await self._db.row(LIFECYCLE.hand_back, lease.facts.id, lease.fence, int(has_more))
        return bool(row and row["more"])

    async def end(self, lease: Lease, ending: Ending) -> EventMessage | None:
        """End the session; the event that says so, or None when it could not be ended.

        It cannot when the lease is lost, or when it is to be `cancelled` and a fit of it still runs.
        """
        at, body = datetime.now(UTC), dump_event(ending)
        failed = ending if isinstance(ending, SessionFailed) else None
        row = await self._db.row(
            LIFECYCLE.end_session,
            lease.facts.id,
            lease.fence,
            STATUS_BY_ENDING[type(ending)],
            dumps({"code": failed.code, "detail": failed.detail}) if failed else None,
            dumps(ending.result) if isinstance(ending, SessionFinished) else None,
            ending.kind,
            body,
            at,
        )
        return make_event_message(row["event_seq"], at, ending.kind, body) if row else None


def make_session_facts(row: Record) -> SessionFacts:
    """`row`: of `sessions`."""
    return SessionFacts(
        id=row["id"],
        owner_id=row["owner_id"],
        goal=row["goal"],
        preferences=json.loads(row["preferences"]),
        dataset_ids=tuple(row["dataset_ids"]),
        seed=row["seed"],
        created_at=row["created_at"],
    )


def _lease(row: Record) -> Lease:
    first = row["started"]
    return Lease(
        facts=make_session_facts(row),
        graph=row["graph"],
        graph_version=row["graph_version"],
        fence=row["fence"],
        last_seq=row["last_seq"],
        crashes=row["crashes"],
        signal=make_drive_signal(row["cancel"], row["overdue"]),
        started_event=make_event_message(row["event_seq"], row["started_at"], "session_started", first)
        if first
        else None,
        worked_s=row["worked_s"],
        queued_s=row["queued_s"],
        taken_over=row["taken_over"],
    )
