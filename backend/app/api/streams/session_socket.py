"""WebSocket of a session: events out, answers and cancellations in."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass
from functools import partial
from typing import Annotated, Literal
from uuid import UUID

import structlog
from fastapi import WebSocket
from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from app.api.dependencies.caller import require
from app.api.exception_handlers import field_errors, refusal_of
from app.api.server.middleware import MAX_JSON_DEPTH, is_too_deep
from app.api.server.protocols import PUSH, text_frame
from app.api.streams.heartbeat import with_heartbeats
from app.api.streams.socket_protocol import (
    HEARTBEAT,
    HEARTBEAT_S,
    MAX_SEND_S,
    Close,
    close,
    receive_text,
    run_until_first_end,
    send_text,
    wait_until_revoked,
)
from app.auth.principal import Principal, Scope
from app.errors import LabError, TooMany, Unauthorized
from app.sessions.events.serialization import EventMessage
from app.sessions.events.subscription import Push
from app.sessions.schemas import Text
from app.sessions.service import SessionService

log = structlog.get_logger(__name__)


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


@dataclass(frozen=True)
class SessionSocket:
    """An authorised socket. A client that lost it reconnects with its cursor.

    `confirm` returns the caller as stored in Postgres now. Each command calls it, since a socket may be open
    for days, and this process may not know yet what another one revoked. `take` charges a command, and raises
    TooMany.
    """

    socket: WebSocket
    service: SessionService
    confirm: Callable[[], Awaitable[Principal]]
    take: Callable[[], Awaitable[None]]
    session_id: UUID
    heartbeat_s: float = HEARTBEAT_S
    max_send_s: float = MAX_SEND_S

    async def serve(
        self, events: AsyncGenerator[list[EventMessage], None], revoked: "asyncio.Task[None]"
    ) -> None:
        """Serve until the session or credential ends, or the client disconnects or reads too slowly."""
        code = await run_until_first_end(
            self._send_events(events),
            self._receive_commands(),
            wait_until_revoked(revoked),
            session_id=self.session_id,
        )
        if code is not None:
            log.info("socket_closed", session_id=str(self.session_id), code=int(code))
            await close(self.socket, code)

    async def _send_events(self, events: AsyncGenerator[list[EventMessage], None]) -> Close:
        async with aclosing(with_heartbeats(events, self.heartbeat_s)) as batches:
            async for batch in batches:
                for text in [HEARTBEAT] if batch is None else [event.data for event in batch]:
                    await self._send(text)
        return Close.ENDED

    async def _receive_commands(self) -> Close:
        while True:
            text = await receive_text(self.socket)
            if isinstance(text, Close):
                return text
            try:
                answer = await self._reply(text)
            except Unauthorized:
                return Close.NOT_SIGNED_IN
            await self._send(json.dumps(answer))

    async def _reply(self, text: str) -> dict[str, object]:
        """Raises Unauthorized if the credential has ended."""
        try:
            # One that cannot be read costs as much as another one to refuse.
            await self.take()
        except TooMany as error:
            return {**error.facts, "type": "problem", "code": error.code, "detail": error.detail}
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
        await send_text(self.socket, text, self.max_send_s)


def _problem(error: LabError, message: Respond | Cancel) -> dict[str, object]:
    facts = {**error.facts, "code": error.code, "detail": error.detail}
    return {**facts, "type": "problem", "command": message.type, "id": message.id}


def push_to(socket: WebSocket) -> Push | None:
    """Return a function that writes to the connection directly, if the server supports it."""
    extension = socket.scope.get("extensions", {}).get(PUSH)
    return partial(_push, extension["frames"]) if extension else None


def _push(write: Callable[[bytes], bool], events: Sequence[EventMessage]) -> bool:
    return write(b"".join([text_frame(event.data) for event in events]))
