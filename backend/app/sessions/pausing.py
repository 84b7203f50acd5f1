"""Pause and resume of a session by its user. Each is one statement that is safe to send twice."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

from app.db.pool import Database
from app.errors import Conflict
from app.jobs import SendJob, advance_job, fit_job
from app.sessions.admission import AdmissionQueue
from app.sessions.config import SessionsConfig
from app.sessions.events.events import SessionPaused, SessionResumed
from app.sessions.events.publisher import EventPublisher
from app.sessions.events.serialization import dump_event, make_event_message
from app.sessions.lifecycle import SessionStatus
from app.sessions.queries import make_not_found_error
from app.sessions.schemas import STUDY
from app.sessions.statements import LIFECYCLE


class PauseRow(NamedTuple):
    """`status`: that of the session now; `running` while its driver ends a step."""

    event_seq: int
    status: str


class ResumeRow(NamedTuple):
    """`open_fits`: JSON, `[[round_key, candidate]]` of the fits that wait for a worker."""

    event_seq: int
    status: str
    open_fits: str


class PauseLookupRow(NamedTuple):
    class_: str
    status: str
    ended_at: datetime | None
    cancel: bool
    paused_at: datetime | None


@dataclass(frozen=True)
class Pauses:
    """Pauses and resumes the sessions of users."""

    db: Database
    publisher: EventPublisher
    send_job: SendJob
    config: SessionsConfig

    async def pause(self, owner: UUID, session_id: UUID) -> SessionStatus:
        """Pause a session and return its status: no step and no fit begins, running ones end.

        Raises NotFound, and Conflict for a session that has ended or ends, or that is no study.
        """
        at, event = datetime.now(UTC), SessionPaused()
        body = dump_event(event)
        row = await self.db.row(LIFECYCLE.pause, session_id, owner, at, body)
        if row is None:
            stored = await self._find(owner, session_id)
            # A session that is paused already is no error: the request may have been sent twice.
            if stored.paused_at is None:
                raise _make_refusal(stored)
            return SessionStatus(stored.status)
        paused = PauseRow(**row)
        message = make_event_message(paused.event_seq, at, event.kind, body)
        self.publisher.publish(session_id, message)
        # Its driver learns of it now, and not at its next renewal.
        self.publisher.announce_change(session_id)
        # Its place is free, unless a driver has to end its step first.
        await AdmissionQueue(self.db, self.send_job, self.config).admit()
        return SessionStatus(paused.status)

    async def resume(self, owner: UUID, session_id: UUID) -> SessionStatus:
        """Let a paused session go on, and return its status. A session that is not paused stays as it is.

        Raises NotFound, and Conflict for a session that has ended or ends, or that is no study.
        """
        at, event = datetime.now(UTC), SessionResumed()
        body = dump_event(event)
        row = await self.db.row(LIFECYCLE.resume, session_id, owner, at, body)
        if row is None:
            stored = await self._find(owner, session_id)
            if stored.ended_at is not None or stored.cancel or stored.class_ != STUDY:
                raise _make_refusal(stored)
            return SessionStatus(stored.status)
        resumed = ResumeRow(**row)
        message = make_event_message(resumed.event_seq, at, event.kind, body)
        self.publisher.publish(session_id, message)
        # While it was paused no claim succeeded, so the wake-ups of these fits are used up.
        for round_key, candidate in json.loads(resumed.open_fits):
            self.send_job(fit_job(session_id, round_key, candidate))
        # It may have kept its place, or need a new one: whichever comes first drives it.
        self.send_job(advance_job(session_id))
        await AdmissionQueue(self.db, self.send_job, self.config).admit()
        return SessionStatus(resumed.status)

    async def _find(self, owner: UUID, session_id: UUID) -> PauseLookupRow:
        row = await self.db.row(LIFECYCLE.find_pause, session_id, owner)
        if row is None:
            raise make_not_found_error(session_id)
        return PauseLookupRow(**row)


def _make_refusal(stored: PauseLookupRow) -> Conflict:
    if stored.class_ != STUDY:
        return Conflict(
            "not_pausable", f"A {stored.class_} is a single piece of work: cancel it instead of pausing it."
        )
    if stored.ended_at is not None:
        return Conflict("session_ended", "This session has ended: nothing of it runs.")
    return Conflict("session_cancelling", "This session is being cancelled.")
