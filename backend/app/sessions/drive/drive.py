"""One drive of a session: from a claim until it must wait, has used its slice, or ends."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import structlog
from langgraph.runtime import RunControl

from app.jobs import Job, Send
from app.sessions.budget import Amounts, Ledger
from app.sessions.budget_usage import load
from app.sessions.drive.journal import Journal
from app.sessions.drive.step import DrivenStep
from app.sessions.events.events import Live
from app.sessions.events.publisher import Tail
from app.sessions.events.serialization import event_body, sighting
from app.sessions.fenced_writer import WriteResult
from app.sessions.lease import DriveSignal, Lease
from app.sessions.step_scope import StepScope


@dataclass
class GraphDrive:
    """The graph's runtime context: makes the steps, and asks the graph to drain when it is time."""

    lease: Lease
    journal: Journal
    tail: Tail
    queue: Send
    slice_s: float
    make_context: Callable[[StepScope], Any]
    most: Amounts = field(default_factory=dict)
    """Of each resource, the most that the operator lets a session have."""
    _ledger: Ledger | None = None
    node: str = "none"
    """That began last."""
    control: RunControl = field(default_factory=RunControl)
    standing: DriveSignal = DriveSignal.GO_ON
    started: float = field(default_factory=time.monotonic)
    look: asyncio.Event = field(default_factory=asyncio.Event)
    """Set to have the session's row looked at now."""
    task: "asyncio.Task[Any] | None" = field(default_factory=asyncio.current_task)

    def begin(self, seq: int, node: str) -> DrivenStep:
        self.node = node
        structlog.contextvars.bind_contextvars(step=seq, node=node)
        return DrivenStep(self, self.lease.facts, seq, node, self.lease.fence)

    def context(self, step: StepScope) -> Any:
        return self.make_context(step)

    @property
    def worked_s(self) -> float:
        return self.lease.worked_s + time.monotonic() - self.started

    async def ledger(self) -> Ledger:
        """What the session may use and has used: read once in a drive, then kept."""
        if self._ledger is None:
            facts = self.lease.facts
            self._ledger = await load(
                self.journal.hold.db, facts.id, facts.preferences.get("budget", {}), self.most
            )
        return self._ledger

    def notice(self, written: WriteResult) -> None:
        """After a write: tell watchers; stop at once if the session is to end, after the step if time is up."""
        for seen in written.sightings:
            self.tail.show(self.lease.facts.id, seen)
        if written.standing is not DriveSignal.GO_ON:
            self.halt(written.standing)
        elif self.standing is not DriveSignal.GO_ON:
            self._cancel()  # the first time some library took it for a timeout of its own
        elif time.monotonic() - self.started > self.slice_s:
            self.control.request_drain("slice")

    def halt(self, why: DriveSignal) -> None:
        """Stop where it is: what the running step awaits is cancelled, and its cell is killed."""
        if self.standing is DriveSignal.GO_ON:
            self.standing = why
            self._cancel()

    def _cancel(self) -> None:
        if self.task:
            self.task.cancel()

    def show(self, event: Live) -> None:
        self.tail.show(self.lease.facts.id, sighting(None, datetime.now(UTC), event.kind, event_body(event)))

    def send(self, job: Job) -> None:
        self.queue(job)
