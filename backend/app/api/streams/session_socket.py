"""WebSocket of a session: events out, answers and cancellations in."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass
from enum import IntEnum
from functools import partial
from typing import Annotated, Literal
from uuid import UUID

import structlog
from fastapi import WebSocket, WebSocketDisconnect
from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from app.api.deps import require
from app.api.exception_handlers import field_errors, refusal_of
from app.api.server.middleware import MAX_JSON_DEPTH, is_too_deep
from app.api.server.protocols import PUSH, text_frame
from app.api.streams.heartbeat import with_heartbeats
from app.auth.principal import Principal, Scope
from app.db.pool import is_away
from app.errors import LabError, Unauthorized
from app.observability.metrics.api_requests import SLOW_CLIENTS
from app.sessions.events.serialization import EventMessage
from app.sessions.events.subscription import FellBehind, Push
from app.sessions.schemas import Text
from app.sessions.service import SessionService
from app.tasks import cancel_and_wait

log = structlog.get_logger(__name__)


class Close(IntEnum):
    """Close codes. 4xxx are private codes that mirror HTTP statuses."""

    ENDED = 1000
    NOT_A_MESSAGE = 1002
    TOO_LARGE = 1009
    BROKEN = 1011
    UNAVAILABLE = 1013
    NOT_SIGNED_IN = 4401
    NOT_FOUND = 4404
    NOT_ALLOWED = 4403
    TOO_SLOW = 4408
    TOO_MANY = 4429


REASONS: dict[Close, str] = {
    Close.ENDED: "The session has ended.",
    Close.NOT_A_MESSAGE: "Send text: JSON in text frames. Binary frames are not understood.",
    Close.TOO_LARGE: "A message was too large.",
    Close.UNAVAILABLE: "Postgres or Redis does not answer. Reconnect later, with a new ticket.",
    Close.BROKEN: "The service failed.",
    Close.NOT_SIGNED_IN: "Send a valid bearer header or a new ticket.",
    Close.NOT_ALLOWED: "This API key lacks the scope `read`.",
    Close.TOO_MANY: "Too many requests, or too many open streams.",
    Close.NOT_FOUND: "There is no such session.",
    Close.TOO_SLOW: "The client reads too slowly. Reconnect with the cursor.",
}


CLOSE_CODES: dict[str, Close] = {
    "not_found": Close.NOT_FOUND,
    "forbidden": Close.NOT_ALLOWED,
    "too_many": Close.TOO_MANY,
    "unavailable": Close.UNAVAILABLE,
}
"""Close codes of refusals, by their kind."""


class Respond(BaseModel):
    model_config = ConfigDict(extra="forbid")

    type: Literal["respond"]
    question: Text | None = Field(default=None, min_length=1, max_length=200)
    answer: JsonValue
    id: str | None = Field(default=None, max_length=100)


class Cancel(BaseModel):
    model_config = ConfigDict(extra="forbid")

    type: Literal["cancel"]
    id: str | None = Field(default=None, max_length=100)


Message = Annotated[Respond | Cancel, Field(discriminator="type")]
MESSAGE: TypeAdapter[Message] = TypeAdapter(Message)

MAX_MESSAGE_BYTES = 256 << 10
"""Far larger than an answer to a question."""
HEARTBEAT_S = 15.0
"""Below the 60 s after which nginx and common load balancers cut a silent connection."""
MAX_SEND_S = 10.0
"""Seconds for one frame; a client that reconnects with its cursor loses nothing."""
MAX_CLOSE_S = 10.0
"""Seconds for the closing handshake, which a client that is gone never answers."""

HEARTBEAT = json.dumps({"type": "heartbeat"})


class SlowClient(Exception):
    """The client did not accept a frame in time."""


@dataclass(frozen=True)
class SessionSocket:
    """An authorised socket. A client that lost it reconnects with its cursor.

    `confirm` returns the caller as stored in Postgres now. Each command calls it, since a socket may be open
    for days, and this process may not know yet what another one revoked.
    """

    socket: WebSocket
    service: SessionService
    confirm: Callable[[], Awaitable[Principal]]
    session_id: UUID
    heartbeat_s: float = HEARTBEAT_S
    max_send_s: float = MAX_SEND_S

    async def serve(
        self, events: AsyncGenerator[list[EventMessage], None], revoked: "asyncio.Task[None]"
    ) -> None:
        """Serve until the session or credential ends, or the client disconnects or reads too slowly."""
        sending = asyncio.create_task(self._send_events(events))
        receiving = asyncio.create_task(self._receive_commands())
        revocation = asyncio.create_task(_refuse_after(revoked))
        try:
            await asyncio.wait({sending, receiving, revocation}, return_when=asyncio.FIRST_COMPLETED)
            first = next(task for task in (sending, receiving, revocation) if task.done())
        finally:
            await cancel_and_wait(sending, receiving, revocation)
            for task in (sending, receiving, revocation):
                _ = task.cancelled() or task.exception()  # the first one counts; the others were seen
        await self._close_after(first)

    async def _send_events(self, events: AsyncGenerator[list[EventMessage], None]) -> Close:
        async with aclosing(with_heartbeats(events, self.heartbeat_s)) as batches:
            async for batch in batches:
                for text in [HEARTBEAT] if batch is None else [event.data for event in batch]:
                    await self._send(text)
        return Close.ENDED

    async def _receive_commands(self) -> Close:
        while True:
            frame = await self.socket.receive()
            if frame["type"] == "websocket.disconnect":
                raise WebSocketDisconnect(frame.get("code", 1005), frame.get("reason"))
            text = frame.get("text")
            if text is None:
                return Close.NOT_A_MESSAGE
            if len(text.encode()) > MAX_MESSAGE_BYTES:
                return Close.TOO_LARGE
            try:
                answer = await self._reply(text)
            except Unauthorized:
                return Close.NOT_SIGNED_IN
            await self._send(json.dumps(answer))

    async def _reply(self, text: str) -> dict[str, object]:
        """Raises Unauthorized if the credential has ended."""
        if is_too_deep(text.encode()):
            detail = f"The message is nested deeper than {MAX_JSON_DEPTH} levels."
            return {"type": "problem", "code": "json_too_deep", "detail": detail}
        try:
            message = MESSAGE.validate_json(text)
        except ValidationError as error:
            errors = field_errors(error.errors(include_url=False, include_context=False, include_input=False))
            members = [asdict(entry) for entry in errors]
            return {
                "type": "problem",
                "code": "invalid_message",
                "detail": errors[0].message,
                "errors": members,
            }
        try:
            return {"type": "done", "command": message.type, "id": message.id, **await self._execute(message)}
        except Unauthorized:
            raise
        except LabError as error:
            return _problem(error, message)
        except Exception as error:
            if refusal := refusal_of(error):
                return _problem(refusal, message)
            raise

    async def _execute(self, message: Respond | Cancel) -> dict[str, object]:
        caller = await self.confirm()
        # The scope `read` opens a socket, and each command changes something.
        require(caller, Scope.SESSIONS)
        owner = caller.user_id
        if isinstance(message, Cancel):
            await self.service.cancel(owner, self.session_id)
            return {}
        key = await self.service.respond(owner, self.session_id, message.question, message.answer)
        return {"question": key}

    async def _send(self, text: str) -> None:
        """Raises SlowClient if the client does not accept the frame in time."""
        try:
            async with asyncio.timeout(self.max_send_s):
                await self.socket.send_text(text)
        except TimeoutError as error:
            raise SlowClient from error

    async def _close_after(self, ended: "asyncio.Task[Close]") -> None:
        """Close with the code of the task that ended first, unless the client has disconnected."""
        try:
            code = ended.result()
        except WebSocketDisconnect:
            return
        except (FellBehind, SlowClient):
            SLOW_CLIENTS.labels("socket").inc()
            code = Close.TOO_SLOW
        except Exception as error:  # noqa: BLE001 - the edge: it is logged
            code = close_code_of_failure(error, self.session_id)
        log.info("socket_closed", session_id=str(self.session_id), code=int(code))
        await close(self.socket, code)


def _problem(error: LabError, message: Respond | Cancel) -> dict[str, object]:
    facts = {**error.facts, "code": error.code, "detail": error.detail}
    return {**facts, "type": "problem", "command": message.type, "id": message.id}


def push_to(socket: WebSocket) -> Push | None:
    """Return a function that writes to the connection directly, if the server supports it."""
    extension = socket.scope.get("extensions", {}).get(PUSH)
    return partial(_push, extension["frames"]) if extension else None


def _push(write: Callable[[bytes], bool], events: Sequence[EventMessage]) -> bool:
    return write(b"".join([text_frame(event.data) for event in events]))


def close_code_of_failure(error: Exception, session_id: UUID | None) -> Close:
    """Log a failure and return its close code. `session_id`: None for a socket of many sessions."""
    session = str(session_id) if session_id else None
    if is_away(error):
        log.warning("database_away", error=type(error).__name__, session_id=session)
        return Close.UNAVAILABLE
    log.error("socket_failed", session_id=session, exc_info=error)
    return Close.BROKEN


async def _refuse_after(revoked: "asyncio.Task[None]") -> Close:
    # The task belongs to the stream, which waits for it too.
    await asyncio.shield(revoked)
    return Close.NOT_SIGNED_IN


async def close(socket: WebSocket, code: Close) -> None:
    """Close the socket; after MAX_CLOSE_S without the handshake of the client, give up."""
    with suppress(TimeoutError, WebSocketDisconnect):
        async with asyncio.timeout(MAX_CLOSE_S):
            await socket.close(code, REASONS[code])
