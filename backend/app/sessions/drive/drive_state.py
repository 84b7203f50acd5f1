"""The state of one drive: lease, journal, budget, and the signals that stop it."""

import asyncio
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from langgraph.runtime import RunControl

from app.jobs import Job, SendJob
from app.sessions.budget import BudgetLedger
from app.sessions.budget_resources import Amounts
from app.sessions.budget_usage import load_ledger
from app.sessions.drive.journal import Journal
from app.sessions.events.events import Live
from app.sessions.events.publisher import EventPublisher
from app.sessions.events.serialization import dump_event, make_event_message
from app.sessions.fenced_writer import WriteResult
from app.sessions.lease import DriveSignal, Lease


@dataclass
class SessionDrive:
    """One drive of a session, from a claim until it waits, has used its time slice, or ends.

    `slice_s`: seconds after which the graph is asked to drain.
    """

    lease: Lease
    journal: Journal
    publisher: EventPublisher
    send_job: SendJob
    slice_s: float
    recheck: asyncio.Event
    """Set to have the lease renewed, and with it the session's row read, at once."""
    max_budget: Amounts = field(default_factory=dict)
    """The operator's limit of each resource."""
    node: str = "none"
    """Name of the node that began last."""
    control: RunControl = field(default_factory=RunControl)
    signal: DriveSignal = DriveSignal.GO_ON
    started: float = field(default_factory=time.monotonic)
    """Monotonic clock at the claim, in seconds."""
    # The task that makes the drive runs its graph too: that is the one to cancel.
    task: "asyncio.Task[Any] | None" = field(default_factory=asyncio.current_task)
    _ledger: BudgetLedger | None = None

    @property
    def worked_s(self) -> float:
        """Seconds since the first claim of the session, without the time that it waited for its user.

        A fork adds those of its source up to the point of the fork.
        """
        return self.lease.worked_s + time.monotonic() - self.started

    @property
    def own_worked_s(self) -> float:
        """Seconds of work that the session's own budget is charged with."""
        return self.worked_s - self.lease.inherited_s

    async def ledger(self) -> BudgetLedger:
        """Return the session's budget and usage. Reads the database once per drive."""
        if self._ledger is None:
            facts = self.lease.facts
            self._ledger = await load_ledger(
                self.journal.writer.db, facts.id, facts.preferences.get("budget", {}), self.max_budget
            )
        return self._ledger

    def handle_write(self, write: WriteResult) -> None:
        """Publish the events of a write; stop at once if the session has to end.

        Drain if the session is paused or the slice is over.
        """
        # Published even if the drive stops now: the rows of these events are committed.
        for message in write.messages:
            self.publisher.publish(self.lease.facts.id, message)
        if write.signal not in (DriveSignal.GO_ON, DriveSignal.PAUSE):
            self.halt(write.signal)
        elif self.signal is not DriveSignal.GO_ON:
            # Still running after a halt: a library took the first cancellation for a timeout of its own.
            self._cancel()
        elif write.signal is DriveSignal.PAUSE:
            self.control.request_drain("pause")
        # Asked for at a write, so that looking at the clock
        # needs no timer and a slice ends between two steps.
        elif time.monotonic() - self.started > self.slice_s:
            self.control.request_drain("slice")

    def halt(self, signal: DriveSignal) -> None:
        """Stop at once: cancel what the running step awaits, which kills its cell. Later signals do nothing."""
        if self.signal is DriveSignal.GO_ON:
            self.signal = signal
            self._cancel()

    def _cancel(self) -> None:
        if self.task:
            self.task.cancel()

    def publish_live(self, event: Live) -> None:
        """Publish an event that is not stored."""
        message = make_event_message(None, datetime.now(UTC), event.kind, dump_event(event))
        self.publisher.publish(self.lease.facts.id, message)

    def send(self, job: Job) -> None:
        self.send_job(job)
