"""The runner drives sessions: claim, run the graph for a slice, hand back or end."""

import asyncio
import time
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

import structlog
from langgraph.errors import GraphDrained

from app import jobs
from app.db.pool import Database, is_away
from app.errors import LabError
from app.jobs import SendJob
from app.observability.metrics.agents import count_turn
from app.observability.metrics.sessions import (
    LEASE_LOSSES,
    SESSION_SECONDS,
    SESSION_WAIT_SECONDS,
    SESSIONS_ENDED,
    STEP_ERRORS,
)
from app.observability.tracing import past_span
from app.sandbox.metering import Charge, charge_nobody, meter_usage
from app.sessions.admission import AdmissionQueue
from app.sessions.checkpoints import RedisCheckpoints
from app.sessions.config import SessionsConfig
from app.sessions.drive.drive_state import SessionDrive
from app.sessions.drive.graph_drive import GraphDrive
from app.sessions.drive.journal import Journal
from app.sessions.drive.slice_checkpoint import SliceCheckpoint
from app.sessions.events.events import SessionCancelled, SessionFailed, SessionFinished
from app.sessions.events.publisher import EventPublisher
from app.sessions.fenced_writer import FencedWriter
from app.sessions.graphs import Graphs, GraphSpec
from app.sessions.lease import STATUS_BY_ENDING, DriveSignal, Ending, Lease, LeaseLost, Leases
from app.sessions.lease_renewal import Rechecks, renew_in_background
from app.sessions.schemas import CHAT_GRAPH
from app.storage.blobs import StoreUnavailable
from app.tasks import consume_cancellation

log = structlog.get_logger(__name__)

_MAX_SUPERSTEPS = 1000
"""Nodes of one drive, LangGraph's bound on endless loops: about a hundred times the nodes of a session."""
_REQUEUE_DELAY_S = 0.25
"""Pause before a job is queued for a worker of another version, so that it does not circle at full speed."""


@dataclass(frozen=True)
class Pause:
    """The drive stops and the session continues later: by itself (`has_more`), or when an event wakes it.

    Without `is_urgent` the sweeper queues it, after its grace.
    """

    has_more: bool
    is_urgent: bool = True


@dataclass(frozen=True)
class Abandoned:
    """Another worker holds the lease: nothing more is written."""


Outcome = Ending | Pause | Abandoned

_TIME_LIMIT = SessionFailed(code="time_limit", detail="The session used up its time limit and was stopped.")


_OUTCOMES: dict[DriveSignal, Outcome] = {
    DriveSignal.CANCEL: SessionCancelled(),
    DriveSignal.OVERDUE: _TIME_LIMIT,
    DriveSignal.LOST: Abandoned(),
    DriveSignal.SHUTDOWN: Pause(has_more=True),
    DriveSignal.PAUSE: Pause(has_more=True),
    DriveSignal.GO_ON: Pause(has_more=True),
}


def make_stop_outcome(signal: DriveSignal) -> Outcome:
    """Return the outcome of a drive that was stopped by a signal."""
    return _OUTCOMES[signal]


@dataclass
class Runner:
    """Drives sessions on one event loop."""

    db: Database
    leases: Leases
    graphs: Graphs
    checkpoints: RedisCheckpoints
    publisher: EventPublisher
    send_job: SendJob
    config: SessionsConfig
    charge: Charge = charge_nobody
    draining: bool = False
    rechecks: Rechecks = field(default_factory=Rechecks)
    _running: dict[UUID, SessionDrive] = field(default_factory=dict)
    _requeued: set[UUID] = field(default_factory=set)

    @property
    def _queue(self) -> AdmissionQueue:
        return AdmissionQueue(self.db, self.send_job, self.config)

    async def advance(self, session_id: UUID) -> None:
        """Drive a session for a slice, if it is due and no worker drives it."""
        # The message is used up, and the session still due: the sweeper of another worker queues it.
        if self.draining:
            return
        with self.rechecks.listen(session_id) as recheck:
            lease = await self.leases.claim(session_id)
            if lease is None:
                await self._requeue_for_others(session_id)
            else:
                with structlog.contextvars.bound_contextvars(session_id=str(session_id)):
                    await self._advance(lease, recheck)

    async def _requeue_for_others(self, session_id: UUID) -> None:
        """Queue a session again if only workers of another version can drive it."""
        if session_id in self._requeued or not await self.leases.is_for_others(session_id):
            return
        # One timer for a session: each doubled wake-up would start another circle of messages.
        self._requeued.add(session_id)

        def send() -> None:
            self._requeued.discard(session_id)
            self.send_job(jobs.advance_job(session_id))

        asyncio.get_running_loop().call_later(_REQUEUE_DELAY_S, send)

    async def _advance(self, lease: Lease, recheck: asyncio.Event) -> None:
        clock = time.monotonic()
        _record_claim(lease)
        if lease.started_event:
            self.publisher.publish(lease.facts.id, lease.started_event)
        saved = SliceCheckpoint(self.checkpoints)
        with meter_usage() as usage:
            outcome = await self._outcome(lease, saved, recheck)
        if isinstance(outcome, Pause):
            # Before the lease is free: the next driver may claim
            # at once, and would replay what the checkpoint has.
            await saved.flush()
            await self._hand_back(lease, outcome.has_more, outcome.is_urgent)
        elif not isinstance(outcome, Abandoned):
            # Seconds of this session's own work: a fork is not charged with what it copied.
            await self._end(
                lease, outcome, saved, lease.worked_s - lease.inherited_s + time.monotonic() - clock
            )
        # Last, when nobody waits: the lease is free and the events are out.
        await self.charge(lease.facts.owner_id, usage.cpu_s)

    async def drain(self) -> None:
        """Claim no more. Let running steps finish, and stop those that take longer than `drain_s`."""
        self.draining = True
        for drive in self._running.values():
            drive.control.request_drain("shutdown")
        tasks = {drive.task for drive in self._running.values() if drive.task}
        if tasks:
            await asyncio.wait(tasks, timeout=self.config.drain_s)
        for drive in self._running.values():
            drive.halt(DriveSignal.SHUTDOWN)

    async def _outcome(self, lease: Lease, saved: SliceCheckpoint, recheck: asyncio.Event) -> Outcome:
        # Before the version is looked up: a worker without it may claim a session only to end it.
        if lease.signal is not DriveSignal.GO_ON:
            return make_stop_outcome(lease.signal)
        # A drain that began while the claim was under way knows nothing of this drive, and would not stop it.
        if self.draining:
            return make_stop_outcome(DriveSignal.SHUTDOWN)
        # Before the step runs once more: it may be what kills the process.
        if lease.crashes > self.config.max_crashes:
            return SessionFailed(
                code="crashed",
                detail=f"The process that ran step {lease.last_seq + 1} died {lease.crashes} times.",
            )
        try:
            # A stranded session comes here without its version, and ends with an error that says so.
            spec = self.graphs.get(lease.graph, lease.graph_version)
        except LabError as error:
            return SessionFailed(code=error.code, detail=error.detail)
        drive = self._drive(lease, spec, recheck)
        renew = partial(self._renew, drive)
        async with renew_in_background(self._running, lease.facts.id, drive, renew, self.config.renew_s):
            outcome = await _guarded(drive, spec, saved)
        # A halt cancelled this task, perhaps twice; the statements of the hand-back must not be cut by it.
        await consume_cancellation(drive.task)
        return outcome

    def _drive(self, lease: Lease, spec: GraphSpec, recheck: asyncio.Event) -> SessionDrive:
        journal = Journal(
            FencedWriter(self.db, lease, self.config.lease_s),
            continues_earlier_version=lease.graph_version != spec.version,
        )
        return SessionDrive(
            lease,
            journal,
            self.publisher,
            self.send_job,
            self.config.slice_s,
            recheck,
            self.config.resource_limits,
        )

    async def _renew(self, drive: SessionDrive) -> bool:
        try:
            signal = await self.leases.renew(drive.lease)
        except LeaseLost:
            signal = DriveSignal.LOST
        # Renewed on: the step that runs needs its lease until it ends.
        if signal is DriveSignal.PAUSE:
            drive.control.request_drain("pause")
            return True
        if signal is not DriveSignal.GO_ON:
            drive.halt(signal)
        return signal is DriveSignal.GO_ON

    async def _hand_back(self, lease: Lease, has_more: bool, is_urgent: bool = True) -> None:
        is_due = await self.leases.hand_back(lease, has_more)
        if not has_more:  # it may wait for its user or a study, and then its place is free
            await self._queue.admit()
        if is_due and is_urgent:
            self.send_job(jobs.advance_job(lease.facts.id))

    async def _end(self, lease: Lease, ending: Ending, saved: SliceCheckpoint, worked_s: float) -> None:
        end = await self.leases.end(lease, ending)
        if end:
            _record_end(lease, _measured_status(ending), worked_s)
            if lease.graph == CHAT_GRAPH:
                count_turn(lease.facts.preferences.get("mode"), _turn_status(ending), worked_s)
            self.publisher.publish(lease.facts.id, end.message)
            for cancelled_id in end.cancelled:
                self.publisher.announce_change(cancelled_id)
            for due_id in (*end.woken, *end.cancelled):
                self.send_job(jobs.advance_job(due_id))
            # The turn after this one is woken, and begins once it has a place.
            await self._queue.admit()
            # Only after the end: a session that could not be ended goes on from its checkpoint.
            await saved.forget(lease)
        else:
            # A cancelled session whose fit still runs: the end of
            # that fit wakes it. Under a lost lease this does nothing.
            await self._hand_back(lease, has_more=False)


def _record_claim(lease: Lease) -> None:
    if lease.started_event:
        SESSION_WAIT_SECONDS.labels(lease.graph).observe(lease.queued_s)
    if lease.taken_over:
        LEASE_LOSSES.labels("session").inc()
        log.warning("lease_taken_over", last_step=lease.last_seq, crashes=lease.crashes)


def _measured_status(ending: Ending) -> str:
    """Return the status that metrics count. A goal that was not understood is no failure of the service."""
    if isinstance(ending, SessionFailed) and ending.code == "not_understood":
        return ending.code
    return STATUS_BY_ENDING[type(ending)]


def _turn_status(ending: Ending) -> str:
    """Return the status of a turn that metrics count: one whose code failed has failed, too."""
    if isinstance(ending, SessionFinished):
        return "failed" if ending.result.get("failure") else "succeeded"
    return STATUS_BY_ENDING[type(ending)]


def _record_end(lease: Lease, status: str, worked_s: float) -> None:
    SESSIONS_ENDED.labels(lease.graph, status).inc()
    SESSION_SECONDS.labels(lease.graph, status).observe(worked_s)
    log.info("session_ended", graph=lease.graph, status=status, worked_s=round(worked_s, 3))
    began_at = lease.facts.created_at.timestamp()
    past_span("session", lease.graph, lease.facts.id, began_at, {"labcrew.status": status}, root=True)


async def _guarded(drive: SessionDrive, spec: GraphSpec, saved: SliceCheckpoint) -> Outcome:
    """Run the graph and turn its errors into outcomes."""
    try:
        return await _run(drive, spec, saved)
    # What `request_drain` leads to: a pause, a used-up slice or a shutdown.
    except GraphDrained:
        return make_stop_outcome(drive.signal)
    except LeaseLost:
        return Abandoned()
    except asyncio.CancelledError:
        if drive.signal is DriveSignal.GO_ON:
            # Nobody halted the drive: the worker itself ends its task.
            raise
        return make_stop_outcome(drive.signal)
    except StoreUnavailable as error:
        log.warning("store_away", node=drive.node, code=error.code)
        return Pause(has_more=True, is_urgent=False)  # the session's time limit is the bound
    except LabError as error:
        STEP_ERRORS.labels(drive.node, error.kind).inc()
        log.warning("step_refused", code=error.code)
        return SessionFailed(code=error.code, detail=error.detail)
    except Exception as error:  # a graph may raise anything, and its session must end with an error
        if is_away(error):
            return Abandoned()  # the lease expires, and the sweeper queues the session again
        STEP_ERRORS.labels(drive.node, "broken").inc()
        log.exception("step_broke", step=drive.journal.last_seq + 1, node=drive.node)
        detail = f"Step {drive.journal.last_seq + 1} failed: {type(error).__name__}: {error}"
        return SessionFailed(code="step_failed", detail=detail)


async def _run(drive: SessionDrive, spec: GraphSpec, saved: SliceCheckpoint) -> Outcome:
    lease = drive.lease
    resumed = await saved.load(lease)
    # A copy, since all drives of this process share the compiled graph.
    out = await spec.graph.copy({"checkpointer": saved}).ainvoke(
        # LangGraph goes on from the checkpoint if the input is None, and begins anew with any other.
        None if resumed else {**spec.initial(lease.facts), "step": 0},
        {"configurable": {"thread_id": str(lease.facts.id)}, "recursion_limit": _MAX_SUPERSTEPS},
        context=GraphDrive(drive, spec.make_context),
        # One checkpoint at the end of the slice: one per superstep doubles the time of a step.
        durability="exit",
        control=drive.control,
    )
    if out.get("__interrupt__"):
        # What the session waits for is a row, so nothing of the interrupt itself is kept.
        return Pause(has_more=False)
    return SessionFinished(result=spec.result(out))
