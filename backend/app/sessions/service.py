"""Commands of a user: create, answer and cancel a session.

Each is one statement that is safe to send twice; the session is queued after it was committed.
"""

import json
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, Protocol
from uuid import UUID, uuid4

import structlog
from pydantic import JsonValue

from app.db.pool import Database
from app.errors import Conflict, LabError, NotFound, TooMany, Unauthorized
from app.jobs import SendJob, advance_job
from app.observability.metrics.sessions import SESSIONS_CREATED
from app.observability.tracing import past_span
from app.sessions.admission import AdmissionQueue
from app.sessions.answer_validation import check_answer
from app.sessions.budget import read_extra_seconds
from app.sessions.config import SessionsConfig
from app.sessions.events.events import ClarificationAnswered
from app.sessions.events.publisher import EventPublisher
from app.sessions.events.serialization import dump_event, dumps, make_event_message
from app.sessions.lifecycle import SessionStatus
from app.sessions.queries import make_not_found_error
from app.sessions.schemas import RUN_GRAPH, STUDY, WORKFLOW_GRAPH, SessionCreated, SessionUpdate
from app.sessions.statements import LIFECYCLE, VIEWS

log = structlog.get_logger(__name__)


class SessionPreferences(Protocol):
    """Preferences of a new session of any graph. `seed`: None for `DEFAULT_SEED`."""

    @property
    def seed(self) -> int | None: ...

    def model_dump(self, *, mode: Literal["json"], exclude_none: bool) -> dict[str, Any]: ...


class SessionRequest(Protocol):
    """A request for a new session of any graph."""

    @property
    def goal(self) -> str: ...

    @property
    def dataset_ids(self) -> list[UUID]: ...

    @property
    def preferences(self) -> SessionPreferences: ...


class CreateRow(NamedTuple):
    """`created_at`: None if the session was refused or exists. `may_start`: no parent, or one that can
    still start it. `admitted`: sessions to queue now."""

    owned_datasets: int
    max_live: int
    created_at: datetime | None
    may_start: bool
    admitted: list[UUID]


class ExistingRow(NamedTuple):
    id: UUID
    status: str
    created_at: datetime
    is_same_request: bool


class QuestionLookupRow(NamedTuple):
    """A session and, if there is one, the question to answer. `body`: JSON."""

    ended_at: datetime | None
    status: str
    key: str | None
    body: str | None
    answered_at: datetime | None


class AnswerEventRow(NamedTuple):
    event_seq: int


DEFAULT_SEED = 1
"""Seed of sessions that name none. A constant, so that the same goal on the same data has the same hold-out and
verdict: drawn ones gave opposite verdicts on small tables."""


@dataclass(frozen=True)
class SessionService:
    db: Database
    publisher: EventPublisher
    send_job: SendJob
    config: SessionsConfig
    graph: str = "pipeline"

    async def update(self, owner: UUID, session_id: UUID, change: SessionUpdate) -> None:
        """Name or archive a session. Raises NotFound."""
        if not await self.db.value(
            VIEWS.update_session, session_id, owner, change.name, change.archived, STUDY
        ):
            raise make_not_found_error(session_id)

    async def create(
        self,
        owner: UUID,
        request: SessionRequest,
        idempotency_key: str | None = None,
        parent_id: UUID | None = None,
        session_id: UUID | None = None,
    ) -> SessionCreated:
        """Create a session, or return the one that was created with this key or this `session_id`.

        `parent_id`: the session of a run, or the run of a workflow that starts a study: a cancel of that run
        cancels the study. Raises NotFound for a dataset of another owner, TooMany above the limit of live
        sessions, Conflict if the key was used for another request, or the run was cancelled or has ended.
        """
        session_id, started_at = session_id or uuid4(), time.time()
        preferences = dumps(self._resolve_preferences(request), "preferences")
        row = await self.db.row(
            LIFECYCLE.create,
            session_id,
            owner,
            self.graph,
            request.goal,
            preferences,
            request.dataset_ids,
            _choose_seed(request),
            idempotency_key,
            self.config.max_live_per_owner,
            parent_id,
            self.config.max_running,
            self.config.max_running_per_owner,
            self.config.max_running_turns_per_owner,
        )
        # The statement joins the owner's row: without it there is no owner.
        if row is None:
            raise Unauthorized("account_gone", "This account has been deleted.")
        creation = CreateRow(**row)
        if creation.created_at is None:
            # By this key, or by this statement when its first reply was lost; otherwise it was refused.
            existing = await self._find_existing(session_id, owner, request, preferences, idempotency_key)
            if existing is None:
                raise _make_refusal(creation, request)
            return existing
        SESSIONS_CREATED.labels(self.graph).inc()
        past_span("create_session", self.graph, session_id, started_at, {})
        # Perhaps other sessions than this one: creating also fills places that became free.
        for admitted_id in creation.admitted:
            self.send_job(advance_job(admitted_id))
        return SessionCreated(id=session_id, status=SessionStatus.QUEUED, created_at=creation.created_at)

    def _resolve_preferences(self, request: SessionRequest) -> dict[str, Any]:
        """Return the preferences with the budget that the operator allows. A run has only a time limit."""
        preferences = request.preferences.model_dump(mode="json", exclude_none=True)
        if self.graph not in (RUN_GRAPH, WORKFLOW_GRAPH):
            preferences["budget"] = self.config.make_budget(preferences.get("budget", {}))
        return preferences

    async def _find_existing(
        self,
        session_id: UUID,
        owner: UUID,
        request: SessionRequest,
        preferences: str,
        idempotency_key: str | None,
    ) -> SessionCreated | None:
        """Find the session of this id or key. Raises Conflict if its request was another."""
        row = await self.db.row(
            LIFECYCLE.find_created,
            session_id,
            owner,
            idempotency_key,
            request.goal,
            preferences,
            request.dataset_ids,
        )
        if row is None:
            return None
        existing = ExistingRow(**row)
        if not existing.is_same_request:
            raise Conflict(
                "idempotency_key_reused",
                "This Idempotency-Key was used for another request. Use a new key for a new session.",
            )
        # The process that created it may have died before it queued the session.
        self.send_job(advance_job(existing.id))
        return SessionCreated(
            id=existing.id, status=SessionStatus(existing.status), created_at=existing.created_at
        )

    async def respond(self, owner: UUID, session_id: UUID, question: str | None, answer: JsonValue) -> str:
        """Answer a question, by default the oldest open one, and return its key.

        Raises NotFound, Conflict (no open question, already answered, session ended) and InvalidInput.
        """
        row = await self.db.row(LIFECYCLE.find_question, session_id, owner, question)
        if row is None:
            raise make_not_found_error(session_id)
        key, body = _check_open(QuestionLookupRow(**row), question)
        check_answer(json.loads(body)["answer_schema"], answer)
        raw = dumps(answer, "answer")
        at, event = datetime.now(UTC), ClarificationAnswered(question=key, answer=answer)
        event_body = dump_event(event)
        # Postgres cannot hold a NUL in text.
        text = (answer if isinstance(answer, str) else raw).replace("\0", "\ufffd")
        extra_s = read_extra_seconds(key, answer)
        row = await self.db.row(LIFECYCLE.answer, session_id, key, raw, at, event_body, text, extra_s)
        if row is None:
            raise Conflict("question_answered", "This question has been answered, or its session has ended.")
        log.info("question_answered", session_id=str(session_id), question=key)
        message = make_event_message(AnswerEventRow(**row).event_seq, at, event.kind, event_body)
        self.publisher.publish(session_id, message)
        self.send_job(advance_job(session_id))
        # It gave its place up when it asked.
        await AdmissionQueue(self.db, self.send_job, self.config).admit()
        return key

    async def cancel(self, owner: UUID, session_id: UUID) -> None:
        """Ask a session to stop, and the studies that it started as a run of a workflow; safe to repeat.

        Raises NotFound, and Conflict if it has ended.
        """
        cancelled = await self.db.column(LIFECYCLE.cancel, session_id, owner)
        if not cancelled:
            if await self.db.row(LIFECYCLE.find_end, session_id, owner) is None:
                raise make_not_found_error(session_id)
            raise Conflict("session_ended", "This session has ended: there is nothing to cancel.")
        for cancelled_id in cancelled:
            # Its driver and its running fits learn of it now, and not at their next renewal.
            self.publisher.announce_change(cancelled_id)
            self.send_job(advance_job(cancelled_id))


def _choose_seed(request: SessionRequest) -> int:
    seed = request.preferences.seed
    return DEFAULT_SEED if seed is None else seed


def _make_refusal(creation: CreateRow, request: SessionRequest) -> LabError:
    if not creation.may_start:
        return Conflict("parent_ended", "The run that starts this session was cancelled, or has ended.")
    if creation.owned_datasets != len(request.dataset_ids):
        return NotFound(
            "dataset_not_found",
            "At least one of `dataset_ids` is not a dataset of yours. GET /datasets lists those that are.",
        )
    return make_quota_error(creation.max_live)


def make_quota_error(max_live: int) -> TooMany:
    """Return the refusal of a session above the limit of live sessions."""
    return TooMany(
        "too_many_sessions",
        f"You have {max_live} sessions that have not ended. Wait for one, or cancel one.",
        limit=max_live,
    )


def _check_open(row: QuestionLookupRow, question: str | None) -> tuple[str, str]:
    """Return the key and the body of the question to answer. Raises Conflict and NotFound."""
    if row.ended_at is not None:
        raise Conflict("session_ended", "This session has ended and takes no answers.")
    if (row.key is None or row.body is None) and question is not None:
        raise NotFound("question_not_found", f"This session has no question {question!r}.")
    if row.key is None or row.body is None:
        raise Conflict("nothing_asked", "This session has no open question.", status_now=row.status)
    if row.answered_at is not None:
        raise Conflict("question_answered", "This question has been answered already.")
    return row.key, row.body
