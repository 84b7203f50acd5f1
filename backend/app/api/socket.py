"""One socket on one session: events go out, answers and cancels come in."""

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
from app.api.failures import field_errors, refusal_of
from app.api.heartbeat import with_heartbeats
from app.api.middleware import MAX_DEPTH, too_deep
from app.api.protocol import PUSH, text_frame
from app.auth.principal import Principal, Scope
from app.db.pool import is_away
from app.errors import LabError, Unauthorized
from app.observability.metrics.edge import SLOW_CLIENTS
from app.sessions.events.serialization import EventMessage
from app.sessions.events.subscription import FellBehind, Push
from app.sessions.schemas import Text
from app.sessions.service import SessionService
from app.tasks import cancel_and_wait

log = structlog.get_logger(__name__)


class Close(IntEnum):
    """Why a socket was closed. 4xxx are ours, and mirror HTTP."""

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
    Close.UNAVAILABLE: "Postgres or Redis does not answer. Come back soon; a used ticket must be a new one.",
    Close.BROKEN: "Something went wrong on our side.",
    Close.NOT_SIGNED_IN: "Send a bearer header that works, or a fresh ticket.",
    Close.NOT_ALLOWED: "This API key lacks the scope `read`.",
    Close.TOO_MANY: "Too many requests, or too many open streams.",
    Close.NOT_FOUND: "There is no such session.",
    Close.TOO_SLOW: "Read too slowly. Come back with your cursor.",
}


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

MAX_BYTES = 256 << 10
HEARTBEAT_S = 15.0
SEND_PATIENCE_S = 10.0
CLOSE_PATIENCE_S = 10.0

HEARTBEAT = json.dumps({"type": "heartbeat"})


class SlowClient(Exception):
    """A frame was not taken within the patience for sending."""


@dataclass(frozen=True)
class SessionSocket:
    """A socket that is admitted to the session already. A client that lost it comes back with its cursor.

    `confirm` returns the caller as Postgres knows them now. Each command asks it, since a socket may be open
    for days, and this process may not have heard yet of what another revoked.
    """

    socket: WebSocket
    service: SessionService
    confirm: Callable[[], Awaitable[Principal]]
    session_id: UUID
    heartbeat_s: float = HEARTBEAT_S
    send_patience_s: float = SEND_PATIENCE_S

    async def serve(
        self, events: AsyncGenerator[list[EventMessage], None], revoked: "asyncio.Task[None]"
    ) -> None:
        """Until the session has ended, the client leaves or reads too slowly, or its credential has ended."""
        talking = asyncio.create_task(self._talk(events))
        listening = asyncio.create_task(self._listen())
        watching = asyncio.create_task(_refuse_after(revoked))
        try:
            await asyncio.wait({talking, listening, watching}, return_when=asyncio.FIRST_COMPLETED)
            first = next(task for task in (talking, listening, watching) if task.done())
        finally:
            await cancel_and_wait(talking, listening, watching)
            for task in (talking, listening, watching):
                _ = task.cancelled() or task.exception()  # the first one counts; the others were seen
        await self._part(first)

    async def _talk(self, events: AsyncGenerator[list[EventMessage], None]) -> Close:
        async with aclosing(with_heartbeats(events, self.heartbeat_s)) as batches:
            async for batch in batches:
                for text in [HEARTBEAT] if batch is None else [seen.data for seen in batch]:
                    await self._send(text)
        return Close.ENDED

    async def _listen(self) -> Close:
        while True:
            frame = await self.socket.receive()
            if frame["type"] == "websocket.disconnect":
                raise WebSocketDisconnect(frame.get("code", 1005), frame.get("reason"))
            text = frame.get("text")
            if text is None:
                return Close.NOT_A_MESSAGE
            if len(text.encode()) > MAX_BYTES:
                return Close.TOO_LARGE
            try:
                answer = await self._reply(text)
            except Unauthorized:
                return Close.NOT_SIGNED_IN
            await self._send(json.dumps(answer))

    async def _reply(self, text: str) -> dict[str, object]:
        """Raises Unauthorized when the credential has ended."""
        if too_deep(text.encode()):
            detail = f"The message is nested deeper than {MAX_DEPTH} levels."
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
            return {"type": "done", "of": message.type, "id": message.id, **await self._do(message)}
        except Unauthorized:
            raise
        except LabError as error:
            return _problem(error, message)
        except Exception as error:
            if refusal := refusal_of(error):
                return _problem(refusal, message)
            raise

    async def _do(self, message: Respond | Cancel) -> dict[str, object]:
        who = await self.confirm()
        require(who, Scope.SESSIONS)
        owner = who.user_id
        if isinstance(message, Cancel):
            await self.service.cancel(owner, self.session_id)
            return {}
        key = await self.service.respond(owner, self.session_id, message.question, message.answer)
        return {"question": key}

    async def _send(self, text: str) -> None:
        """Raises SlowClient when the client does not take it in time."""
        try:
            async with asyncio.timeout(self.send_patience_s):
                await self.socket.send_text(text)
        except TimeoutError as error:
            raise SlowClient from error

    async def _part(self, ended: "asyncio.Task[Close]") -> None:
        """Close for the reason that came first; a client that has left is not told."""
        try:
            code = ended.result()
        except WebSocketDisconnect:
            return
        except (FellBehind, SlowClient):
            SLOW_CLIENTS.labels("socket").inc()
            code = Close.TOO_SLOW
        except Exception as error:  # noqa: BLE001 - the edge: it is logged
            code = broken(error, self.session_id)
        log.info("socket_closed", session_id=str(self.session_id), code=int(code))
        await close(self.socket, code)


def _problem(error: LabError, message: Respond | Cancel) -> dict[str, object]:
    facts = {**error.facts, "code": error.code, "detail": error.detail}
    return {**facts, "type": "problem", "of": message.type, "id": message.id}


def push_to(socket: WebSocket) -> Push | None:
    """Where our server lets us: straight into the client's connection, past every queue."""
    extension = socket.scope.get("extensions", {}).get(PUSH)
    return partial(_push, extension["frames"]) if extension else None


def _push(write: Callable[[bytes], bool], seen: Sequence[EventMessage]) -> bool:
    return write(b"".join([text_frame(one.data) for one in seen]))


def broken(error: Exception, session_id: UUID) -> Close:
    """The code for a failure that is not the client's; it is logged, as ours unless Postgres is away."""
    if is_away(error):
        log.warning("database_away", error=type(error).__name__, session_id=str(session_id))
        return Close.UNAVAILABLE
    log.error("socket_failed", session_id=str(session_id), exc_info=error)
    return Close.BROKEN


async def _refuse_after(revoked: "asyncio.Task[None]") -> Close:
    await asyncio.shield(revoked)
    return Close.NOT_SIGNED_IN


async def close(socket: WebSocket, code: Close) -> None:
    """A client that does not take the goodbye in time is left without."""
    with suppress(TimeoutError, WebSocketDisconnect):
        async with asyncio.timeout(CLOSE_PATIENCE_S):
            await socket.close(code, REASONS[code])
