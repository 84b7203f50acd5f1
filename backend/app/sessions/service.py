"""What a user does to a session: create it, answer it, cancel it.

Each is one statement that is safe to send twice; the wake-up is queued after it committed.
"""

import json
import secrets
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, Protocol
from uuid import UUID, uuid4

from pydantic import JsonValue

from app.db.pool import Database, Record
from app.errors import Conflict, NotFound, TooMany, Unauthorized
from app.jobs import SendJob, advance_job
from app.observability.metrics.sessions import SESSIONS_CREATED
from app.observability.tracing import past_span
from app.sessions.admission import AdmissionQueue
from app.sessions.answers import check_answer
from app.sessions.budget import read_extra_seconds
from app.sessions.config import SessionsConfig
from app.sessions.events.events import ClarificationAnswered
from app.sessions.events.publisher import EventPublisher
from app.sessions.events.serialization import dump_event, dumps, make_event_message
from app.sessions.lifecycle import SessionStatus
from app.sessions.queries import make_not_found_error
from app.sessions.schemas import RUN_GRAPH, SessionCreated
from app.sessions.statements import LIFECYCLE


class SessionPreferences(Protocol):
    @property
    def seed(self) -> int | None: ...

    def model_dump(self, *, mode: Literal["json"], exclude_none: bool) -> dict[str, Any]: ...


class SessionRequest(Protocol):
    """What a new session of any graph is made of."""

    @property
    def goal(self) -> str: ...

    @property
    def dataset_ids(self) -> list[UUID]: ...

    @property
    def preferences(self) -> SessionPreferences: ...


@dataclass(frozen=True)
class SessionService:
    db: Database
    tail: EventPublisher
    send: SendJob
    config: SessionsConfig
    graph: str = "pipeline"

    async def create(
        self,
        owner: UUID,
        request: SessionRequest,
        idempotency_key: str | None = None,
        parent_id: UUID | None = None,
    ) -> SessionCreated:
        """The new session, or the one that this key made before.

        Raises NotFound for a dataset that is not the owner's, TooMany over the limit of live sessions, Conflict
        when the key was used for another request.
        """
        session_id, began_at = uuid4(), time.time()
        preferences = dumps(self._settled(request), "preferences")
        row = await self.db.row(
            LIFECYCLE.create,
            session_id,
            owner,
            self.graph,
            request.goal,
            preferences,
            request.dataset_ids,
            _seed(request),
            idempotency_key,
            self.config.max_live_per_owner,
            parent_id,
            self.config.max_running,
            self.config.max_running_per_owner,
        )
        if row is None:
            raise Unauthorized("account_gone", "This account has been deleted.")
        if row["created_at"] is None:
            return await self._made_before(session_id, owner, request, preferences, idempotency_key, row)
        SESSIONS_CREATED.labels(self.graph).inc()
        past_span("create_session", self.graph, session_id, began_at, {})
        for admitted in row["admitted"]:
            self.send(advance_job(admitted))
        return SessionCreated(id=session_id, status=SessionStatus.QUEUED, created_at=row["created_at"])

    def _settled(self, wanted: SessionRequest) -> dict[str, Any]:
        """The preferences, with the budget that the operator allows; a run has only the time limit."""
        preferences = wanted.preferences.model_dump(mode="json", exclude_none=True)
        if self.graph != RUN_GRAPH:
            preferences["budget"] = self.config.make_budget(preferences.get("budget", {}))
        return preferences

    async def _made_before(
        self,
        session_id: UUID,
        owner: UUID,
        wanted: SessionRequest,
        preferences: str,
        idempotency_key: str | None,
        counted: Record,
    ) -> SessionCreated:
        """By this key, or by ourselves when the reply was lost; else say why it was not made."""
        found = await self.db.row(
            LIFECYCLE.find_created,
            session_id,
            owner,
            idempotency_key,
            wanted.goal,
            preferences,
            wanted.dataset_ids,
        )
        if found is None:
            raise _refusal(counted, wanted)
        if not found["same"]:
            raise Conflict(
                "idempotency_key_reused",
                "This Idempotency-Key was used for another request. Use a new key for a new session.",
            )
        self.send(advance_job(found["id"]))
        return SessionCreated(
            id=found["id"], status=SessionStatus(found["status"]), created_at=found["created_at"]
        )

    async def respond(self, owner: UUID, session_id: UUID, question: str | None, answer: JsonValue) -> str:
        """Answer a question, the oldest open one when none is named; its key.

        Raises NotFound, Conflict (nothing is asked, answered before, session ended) and InvalidInput.
        """
        row = await self.db.row(LIFECYCLE.find_question, session_id, owner, question)
        asked = _open_question(row, session_id, question)
        check_answer(json.loads(asked["body"])["answer_schema"], answer)
        key, raw = str(asked["key"]), dumps(answer, "answer")
        more_s = read_extra_seconds(key, answer)
        at, answered = datetime.now(UTC), ClarificationAnswered(question=key, answer=answer)
        text = (answer if isinstance(answer, str) else raw).replace("\0", "\ufffd")
        row = await self.db.row(LIFECYCLE.answer, session_id, key, raw, at, dump_event(answered), text, more_s)
        if row is None:
            raise Conflict("question_answered", "This question has been answered, or its session has ended.")
        self.tail.publish(
            session_id, make_event_message(row["event_seq"], at, answered.kind, dump_event(answered))
        )
        self.send(advance_job(session_id))
        await AdmissionQueue(self.db, self.send, self.config).admit()
        return key

    async def cancel(self, owner: UUID, session_id: UUID) -> None:
        """Ask a session to stop; asking twice is asking once. Raises NotFound and Conflict (it has ended)."""
        if await self.db.row(LIFECYCLE.cancel, session_id, owner) is None:
            if await self.db.row(LIFECYCLE.find_end, session_id, owner) is None:
                raise make_not_found_error(session_id)
            raise Conflict("session_ended", "This session has ended: there is nothing to cancel.")
        self.tail.announce_cancel(session_id)
        self.send(advance_job(session_id))


def _seed(wanted: SessionRequest) -> int:
    given = wanted.preferences.seed
    return secrets.randbelow(2**31) if given is None else given


def _refusal(counted: Record, wanted: SessionRequest) -> NotFound | TooMany:
    if counted["known"] != len(wanted.dataset_ids):
        return NotFound(
            "dataset_not_found",
            "At least one of `dataset_ids` is not a dataset of yours. GET /datasets lists those that are.",
        )
    limit = counted["most"]
    return TooMany(
        "too_many_sessions",
        f"You have {limit} sessions that have not ended. Wait for one, or cancel one.",
        limit=limit,
    )


def _open_question(asked: Record | None, session_id: UUID, question: str | None) -> Record:
    """The question to answer; raises when there is none."""
    if asked is None:
        raise make_not_found_error(session_id)
    if asked["ended_at"] is not None:
        raise Conflict("session_ended", "This session has ended: nobody waits for an answer.")
    if asked["key"] is None and question is not None:
        raise NotFound("question_not_found", f"This session has no question {question!r}.")
    if asked["key"] is None:
        raise Conflict("nothing_asked", "This session asks nothing now.", status_now=asked["status"])
    if asked["answered_at"] is not None:
        raise Conflict("question_answered", "This question has been answered already.")
    return asked
