"""The one stream of a browser: many sessions and lists over one socket, or over one event stream."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Literal
from uuid import UUID

import structlog
from fastapi import WebSocket, WebSocketDisconnect
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from app.api.streams.heartbeat import with_heartbeats
from app.api.streams.session_socket import (
    HEARTBEAT,
    HEARTBEAT_S,
    MAX_MESSAGE_BYTES,
    MAX_SEND_S,
    Close,
    SlowClient,
    close,
    close_code_of_failure,
)
from app.errors import LabError
from app.observability.metrics.api_requests import SLOW_CLIENTS
from app.sessions.events.serialization import EventMessage
from app.sessions.events.subscription import FellBehind
from app.sessions.events.watches import Frame, Watches, frame_text
from app.tasks import cancel_and_wait

log = structlog.get_logger(__name__)

HELLO = json.dumps({"kind": "hello"})
WatchName = Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[\w.-]+$")]


_USAGE = "A command is `watch`, `watch_lists` or `unwatch`, with the id of its watch."


class _Command(BaseModel):
    model_config = ConfigDict(extra="forbid")

    watch: WatchName


class WatchSession(_Command):
    type: Literal["watch"]
    session: UUID
    since: int = Field(default=0, ge=0, le=2**53)


class WatchLists(_Command):
    type: Literal["watch_lists"]


class Unwatch(_Command):
    type: Literal["unwatch"]


Command = Annotated[WatchSession | WatchLists | Unwatch, Field(discriminator="type")]
COMMAND: TypeAdapter[Command] = TypeAdapter(Command)


async def as_event_messages(watches: Watches) -> AsyncGenerator[list[EventMessage], None]:
    """Yield the frames as server-sent events of the kind `frame`, after a greeting."""
    # At once, so that a client knows that its stream is open.
    yield [EventMessage(None, "frame", HELLO)]
    async with aclosing(watches.frames()) as frames:
        async for frame in frames:
            yield [EventMessage(None, "frame", frame_text(frame))]


class BrowserSocket:
    """An authorised socket that takes commands to watch, and sends frames."""

    def __init__(self, socket: WebSocket, watches: Watches) -> None:
        self._socket = socket
        self._watches = watches

    async def serve(self, revoked: "asyncio.Task[None]") -> None:
        """Serve until the credential ends, or the client disconnects or reads too slowly."""
        sending = asyncio.create_task(self._send_frames())
        receiving = asyncio.create_task(self._receive())
        try:
            tasks = {sending, receiving, revoked}
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            # A disconnect before a failed send, which only follows from it.
            ended = next((task for task in (receiving, sending) if task.done()), None)
        finally:
            await cancel_and_wait(sending, receiving)
            for task in (sending, receiving):
                _ = task.cancelled() or task.exception()  # the first one counts; the other was seen
        code = _code_of(ended) if ended else Close.NOT_SIGNED_IN
        if code is not None:
            await close(self._socket, code)

    async def _send_frames(self) -> Close:
        await self._send(HELLO)
        frames: AsyncGenerator[Frame, None] = self._watches.frames()
        async with aclosing(with_heartbeats(frames, HEARTBEAT_S)) as items:
            async for frame in items:
                await self._send(HEARTBEAT if frame is None else frame_text(frame))
        return Close.ENDED

    async def _receive(self) -> Close:
        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                raise WebSocketDisconnect(message.get("code", 1005), message.get("reason"))
            text = message.get("text")
            if text is None:
                return Close.NOT_A_MESSAGE
            if len(text.encode()) > MAX_MESSAGE_BYTES:
                return Close.TOO_LARGE
            if problem := await self._carry_out(text):
                await self._send(json.dumps({"kind": "problem", **problem}))

    async def _carry_out(self, text: str) -> dict[str, str] | None:
        """Carry a command out. Return why it was refused."""
        try:
            command = COMMAND.validate_json(text)
        except ValidationError:
            return {"code": "invalid_message", "detail": _USAGE}
        try:
            if isinstance(command, WatchSession):
                self._watches.watch(command.watch, command.session, command.since)
            elif isinstance(command, WatchLists):
                self._watches.watch_lists(command.watch)
            else:
                await self._watches.unwatch(command.watch)
        except LabError as refusal:
            # A refused command ends no other watch.
            return {"code": refusal.code, "detail": refusal.detail, "watch": command.watch}
        return None

    async def _send(self, text: str) -> None:
        """Raises SlowClient if the client does not accept the frame in time."""
        try:
            async with asyncio.timeout(MAX_SEND_S):
                await self._socket.send_text(text)
        except TimeoutError as error:
            raise SlowClient from error


def _code_of(ended: "asyncio.Task[Close]") -> Close | None:
    """Return the close code of the task that ended first; None if the client has disconnected."""
    try:
        return ended.result()
    except WebSocketDisconnect:
        return None
    except (FellBehind, SlowClient):
        SLOW_CLIENTS.labels("socket").inc()
        return Close.TOO_SLOW
    except Exception as error:  # noqa: BLE001 - the edge: it is logged
        return close_code_of_failure(error, None)
