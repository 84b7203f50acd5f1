"""Commands of a user on conversations. Each is one statement that is safe to send twice."""

import secrets
import time
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID, uuid4

import asyncpg

from app.db.pool import Database
from app.errors import Conflict, NotFound, TooMany
from app.jobs import SendJob, advance_job
from app.observability.metrics.sessions import SESSIONS_CREATED
from app.observability.tracing import past_span
from app.sessions.config import SessionsConfig
from app.sessions.events.serialization import dumps, request_digest
from app.sessions.schemas import CHAT_GRAPH
from app.threads.direct_modes import split_mode
from app.threads.schemas import ChatMessage, ThreadUpdate
from app.threads.statements import THREADS

MAX_OPEN_TURNS = 100
"""Turns of a user that have not ended, most of which wait: more is a program that does not read."""
_MAX_ATTEMPTS = 100
"""Attempts to append to a worldline while others do; of each two at once, one succeeds."""


class HeadRow(NamedTuple):
    thread_id: UUID
    worldline_id: UUID
    head_id: UUID | None


class CreateTurnParameters(NamedTuple):
    """Parameters of the statement `create_turn`, in its order.

    `parent_id`: the head of the worldline, to which the turn is appended. `dataset_ids`: None for those of
    the thread that still exist.
    """

    turn_id: UUID
    owner: UUID
    thread_id: UUID
    worldline_id: UUID
    parent_id: UUID | None
    is_new_thread: bool
    message: str
    preferences: str
    dataset_ids: list[UUID] | None
    seed: int
    idempotency_key: str | None
    request_digest: str
    mode: str | None
    max_open_turns: int
    max_running_turns: int


class CreatedTurnRow(NamedTuple):
    """`created_at`: None if the turn was refused, exists, or another one was appended meanwhile.

    `admitted`: turns of the owner to queue now: none if this one waits for a place or for the turn before it.
    """

    owned_datasets: int
    open_turns: int
    is_admitted: bool
    created_at: datetime | None
    admitted: list[UUID]


class RequestedTurnRow(NamedTuple):
    """`thread_id`: None for a session that is no turn, `worldline_id` for one whose worldline is deleted."""

    id: UUID
    thread_id: UUID | None
    worldline_id: UUID | None
    is_same_request: bool | None


@dataclass(frozen=True)
class CreatedTurn:
    turn_id: UUID
    thread_id: UUID
    worldline_id: UUID | None


@dataclass(frozen=True)
class Branch:
    """The end of a worldline, to which a turn is appended. `is_new`: the thread is created with the turn."""

    thread_id: UUID
    worldline_id: UUID
    head_id: UUID | None
    is_new: bool = False


@dataclass(frozen=True)
class ThreadService:
    db: Database
    send_job: SendJob
    config: SessionsConfig

    async def post(self, owner: UUID, request: ChatMessage, idempotency_key: str | None = None) -> CreatedTurn:
        """Create a turn, or return the one that was created with this key.

        It begins when the turn before it has ended and one of the owner's places is free. Raises NotFound
        for a thread, worldline or dataset of another owner, InvalidInput for code that cannot be read, TooMany
        above the limit of open turns, Conflict if the key was used for another request.
        """
        started_at = time.time()
        # Before anything is stored: code that cannot be read makes no turn, and needs no database.
        direct = split_mode(request.message, request.mode)
        digest = request_digest(request.model_dump(mode="json"))
        # The statement appends to the head that was read, or not at all: then another turn came between.
        for _ in range(_MAX_ATTEMPTS):
            place = await self._find_place(owner, request)
            # By this id _find_existing knows a turn that was made although the reply to its statement was lost.
            turn_id = uuid4()
            preferences = {
                **request.preferences.model_dump(mode="json", exclude_none=True),
                "mode": direct.mode,
                "code": direct.text,
                "thread_id": str(place.thread_id),
                "worldline_id": str(place.worldline_id),
                "parent_id": str(place.head_id) if place.head_id else None,
            }
            parameters = CreateTurnParameters(
                turn_id=turn_id,
                owner=owner,
                thread_id=place.thread_id,
                worldline_id=place.worldline_id,
                parent_id=place.head_id,
                is_new_thread=place.is_new,
                message=request.message,
                preferences=dumps(preferences, "preferences"),
                dataset_ids=request.dataset_ids,
                seed=secrets.randbelow(2**31),
                idempotency_key=idempotency_key,
                request_digest=digest,
                mode=direct.mode,
                max_open_turns=MAX_OPEN_TURNS,
                max_running_turns=self.config.max_running_turns_per_owner,
            )
            try:
                row = await self.db.row(THREADS.create_turn, *parameters)
            except asyncpg.UniqueViolationError:  # the key was used, or the statement's first reply was lost
                row = None
            created = CreatedTurnRow(**row) if row else None
            if created and created.created_at:
                SESSIONS_CREATED.labels(CHAT_GRAPH).inc()
                past_span("create_turn", CHAT_GRAPH, turn_id, started_at, {})
                # Perhaps other turns than this one: one that was created before it and waits is first.
                for admitted_id in created.admitted:
                    self.send_job(advance_job(admitted_id))
                return CreatedTurn(turn_id, place.thread_id, place.worldline_id)
            existing = await self._find_existing(owner, turn_id, idempotency_key, digest)
            if existing:
                return existing
            _check_refusal(created)
        raise Conflict("worldline_busy", "Many messages arrive in this worldline at once. Send it again.")

    async def _find_place(self, owner: UUID, request: ChatMessage) -> Branch:
        """Find the worldline to append to. Raises NotFound."""
        if request.thread_id is None and request.worldline_id is None:
            return Branch(uuid4(), uuid4(), None, is_new=True)
        row = await self.db.row(THREADS.find_place, owner, request.thread_id, request.worldline_id)
        if row is None:
            raise make_not_found(request.thread_id, request.worldline_id)
        return Branch(**HeadRow(**row)._asdict())

    async def _find_existing(
        self, owner: UUID, turn_id: UUID, key: str | None, digest: str
    ) -> CreatedTurn | None:
        """Find the turn of this id or key. Raises Conflict if its request was another."""
        row = await self.db.row(THREADS.find_turn_of_request, owner, turn_id, key, digest)
        if row is None:
            return None
        existing = RequestedTurnRow(**row)
        if existing.thread_id is None or not existing.is_same_request:
            raise Conflict(
                "idempotency_key_reused",
                "This Idempotency-Key was used for another request. Use a new key for a new message.",
            )
        # The process of the first request may have died before it sent the job; a second one does no harm.
        self.send_job(advance_job(existing.id))
        return CreatedTurn(existing.id, existing.thread_id, existing.worldline_id)

    async def update_thread(self, owner: UUID, thread_id: UUID, change: ThreadUpdate) -> None:
        """Raises NotFound for a thread or dataset of another owner."""
        row = await self.db.row(
            THREADS.update_thread, thread_id, owner, change.title, change.dataset_ids, change.archived
        )
        if row is None or not row["is_there"]:
            raise make_not_found(thread_id)
        if not row["is_updated"]:
            raise _dataset_not_found()


def make_not_found(thread_id: UUID | None, worldline_id: UUID | None = None) -> NotFound:
    if worldline_id is not None:
        return NotFound("worldline_not_found", f"There is no worldline with the id {worldline_id}.")
    return NotFound("thread_not_found", f"There is no thread with the id {thread_id}.")


def make_turn_not_found(turn_id: UUID) -> NotFound:
    return NotFound("turn_not_found", f"There is no turn with the id {turn_id}.")


def _dataset_not_found() -> NotFound:
    return NotFound(
        "dataset_not_found",
        "At least one of `dataset_ids` is not a dataset of yours. GET /datasets lists those that are.",
    )


def _check_refusal(created: CreatedTurnRow | None) -> None:
    """Raise the reason why a turn was refused; return if the worldline only has another head by now."""
    if created is None or created.is_admitted:
        return
    if created.open_turns >= MAX_OPEN_TURNS:
        raise TooMany(
            "too_many_turns",
            f"You have {MAX_OPEN_TURNS} turns that have not ended. Wait for one, or cancel one: "
            "DELETE /lab/agent/sessions/{turn_id}.",
            limit=MAX_OPEN_TURNS,
        )
    raise _dataset_not_found()
