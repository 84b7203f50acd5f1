"""The lease of a session: claim, renew, hand back, end.

The column `wake` counts requests to drive a session; a claim copies it to `seen`, so `wake > seen` means that
work is due. Each statement here is one guarded UPDATE on the database's clock: a driver whose fence is not the
newest changes nothing.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from app.db.pool import Database
from app.sessions.config import SessionsConfig
from app.sessions.events.events import SessionCancelled, SessionFailed, SessionFinished
from app.sessions.events.serialization import EventMessage, dump_event, dumps, make_event_message
from app.sessions.fork_record import ForkRecord, read_fork
from app.sessions.lifecycle import SessionStatus
from app.sessions.statements import LIFECYCLE
from app.sessions.step_scope import SessionFacts
from app.sessions.workers import Versions, is_for_others


class LeaseLost(Exception):
    """Another worker drives the session, or it has ended: stop, and change nothing."""


class DriveSignal(StrEnum):
    """Instruction to the holder of a lease: go on, or the reason to stop."""

    GO_ON = "go_on"
    CANCEL = "cancel"
    OVERDUE = "overdue"
    PAUSE = "pause"
    """The user paused the session: end the running step, and begin no other."""
    LOST = "lost"
    """Another worker holds the lease."""
    SHUTDOWN = "shutdown"
    """The worker stops, and the step did not end within `SessionsConfig.drain_s`."""


def make_drive_signal(cancel: bool, overdue: bool | None, paused: bool) -> DriveSignal:
    """Return the most urgent signal of a session's row."""
    # The cancel first: a user who cancelled is not told that the time was used up.
    if cancel:
        return DriveSignal.CANCEL
    if overdue:
        return DriveSignal.OVERDUE
    # The pause last: what ends the session leaves nothing to pause.
    return DriveSignal.PAUSE if paused else DriveSignal.GO_ON


@dataclass(frozen=True)
class Lease:
    """The right to drive a session, from a claim to a release.

    `started_event`: set by the session's first claim only.
    """

    facts: SessionFacts
    graph: str
    graph_version: int | None
    """None if this worker has no graph of that name."""
    fence: int
    last_seq: int
    crashes: int
    signal: DriveSignal
    started_event: EventMessage | None
    worked_s: float
    """Seconds since the first claim, without the time that it waited for its user, plus `inherited_s`."""
    queued_s: float
    """Seconds from the creation of the session to its first claim."""
    taken_over: bool
    """The lease of another worker had expired."""
    inherited_s: float = 0.0
    """Working time of the source at the point of a fork, in seconds."""
    fork: ForkRecord | None = None
    """Set if the session is a fork."""


class SignalRow(NamedTuple):
    """`overdue`: the session's deadline has passed; None while it has no deadline."""

    cancel: bool
    overdue: bool | None
    paused: bool

    @property
    def signal(self) -> DriveSignal:
        return make_drive_signal(self.cancel, self.overdue, self.paused)


class SessionClaimRow(NamedTuple):
    """A session as its claim leaves it. `started` and `started_at`: the event of its first claim, else None.

    `fork`: JSON of a `ForkRecord`, None for a session that is no fork.
    """

    id: UUID
    owner_id: UUID
    goal: str
    preferences: str
    dataset_ids: Sequence[UUID]
    seed: int
    created_at: datetime
    graph: str
    graph_version: int | None
    fence: int
    last_seq: int
    crashes: int
    event_seq: int
    cancel: bool
    overdue: bool | None
    paused: bool
    worked_s: float
    inherited_s: float
    forked_from: UUID | None
    fork: str | None
    datasets_at: datetime
    queued_s: float
    taken_over: bool
    started: str | None
    started_at: datetime | None


class ReleaseRow(NamedTuple):
    """`more`: work came while the session was driven."""

    more: bool


class EndRow(NamedTuple):
    """`woken`: sessions that waited for the end and are due now. `cancelled`: studies of a failed run."""

    event_seq: int
    woken: Sequence[UUID]
    cancelled: Sequence[UUID]


class SessionEnd(NamedTuple):
    """The last event of a session, the sessions that begin after it, and the studies that it cancelled."""

    message: EventMessage
    woken: Sequence[UUID]
    cancelled: Sequence[UUID]


Ending = SessionFinished | SessionFailed | SessionCancelled

SESSION_STARTED = "session_started"
"""Kind of the event that a first claim writes."""

STATUS_BY_ENDING: dict[type[Ending], SessionStatus] = {
    SessionFinished: SessionStatus.COMPLETED,
    SessionFailed: SessionStatus.FAILED,
    SessionCancelled: SessionStatus.CANCELLED,
}


class Leases:
    def __init__(self, db: Database, config: SessionsConfig, graphs: Versions) -> None:
        self._db = db
        self._config = config
        # Encoded once: it is a parameter of every claim.
        self._graphs = dumps({name: list(versions) for name, versions in graphs.items()})

    async def claim(self, session_id: UUID) -> Lease | None:
        """Claim a session that is due and that no worker drives. None if it is neither.

        A worker without the session's version of the graph may claim it only to end it: because it was
        cancelled, is past its deadline, or had no worker for `stranded_grace_s`.
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
        return _make_lease(SessionClaimRow(**row)) if row else None

    async def is_for_others(self, session_id: UUID) -> bool:
        """Check if the claim failed because only other live workers run the session's version of the graph."""
        return await is_for_others(self._db, session_id, self._graphs)

    async def renew(self, lease: Lease) -> DriveSignal:
        """Extend the lease by `lease_s`. Raises LeaseLost."""
        row = await self._db.row(LIFECYCLE.renew, lease.facts.id, lease.fence, self._config.lease_s)
        # No row: a newer fence, or the session has ended, or the lease was given back.
        if row is None:
            raise LeaseLost
        return SignalRow(**row).signal

    async def hand_back(self, lease: Lease, has_more: bool) -> bool:
        """Release the lease. Return True if the session is due again and should be queued.

        `has_more`: the driver has more to do; otherwise the session waits for its user or for fits. Safe to
        send twice: the second statement matches no lease and returns False, and the sweeper sees `wake > seen`.
        """
        # `int(has_more)` is added to `wake`, which makes the session due again.
        row = await self._db.row(LIFECYCLE.hand_back, lease.facts.id, lease.fence, int(has_more))
        return bool(row and ReleaseRow(**row).more)

    async def end(self, lease: Lease, ending: Ending) -> SessionEnd | None:
        """End the session, wake those that wait for it, and cancel the studies of a run that failed.

        None if it could not be ended: the lease is lost, or the ending is `cancelled` and a fit of the session
        still runs.
        """
        # One time for the row and the message: watchers see the same event from either.
        at, body = datetime.now(UTC), dump_event(ending)
        failure = ending if isinstance(ending, SessionFailed) else None
        row = await self._db.row(
            LIFECYCLE.end_session,
            lease.facts.id,
            lease.fence,
            STATUS_BY_ENDING[type(ending)],
            dumps({"code": failure.code, "detail": failure.detail}) if failure else None,
            dumps(ending.result) if isinstance(ending, SessionFinished) else None,
            ending.kind,
            body,
            at,
        )
        if row is None:
            return None
        end = EndRow(**row)
        message = make_event_message(end.event_seq, at, ending.kind, body)
        return SessionEnd(message, end.woken, end.cancelled)


def _make_lease(row: SessionClaimRow) -> Lease:
    fork = read_fork(row.fork)
    return Lease(
        facts=SessionFacts(
            id=row.id,
            owner_id=row.owner_id,
            # Every agent reads the goal, and with it the notes, without knowing of forks.
            goal=fork.extend_goal(row.goal) if fork else row.goal,
            preferences=json.loads(row.preferences),
            dataset_ids=tuple(row.dataset_ids),
            seed=row.seed,
            created_at=row.created_at,
            datasets_at=row.datasets_at,
            fork=fork.describe(str(row.forked_from)) if fork else None,
        ),
        graph=row.graph,
        graph_version=row.graph_version,
        fence=row.fence,
        last_seq=row.last_seq,
        crashes=row.crashes,
        signal=make_drive_signal(row.cancel, row.overdue, row.paused),
        started_event=make_event_message(row.event_seq, row.started_at, SESSION_STARTED, row.started)
        if row.started and row.started_at
        else None,
        worked_s=row.worked_s,
        queued_s=row.queued_s,
        taken_over=row.taken_over,
        inherited_s=row.inherited_s,
        fork=fork,
    )
