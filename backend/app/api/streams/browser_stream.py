"""The one stream of a browser: many sessions and lists over one socket, or over one event stream."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Annotated, Literal
from uuid import UUID

from fastapi import WebSocket
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from app.api.streams.heartbeat import with_heartbeats
from app.api.streams.socket_protocol import (
    HEARTBEAT,
    HEARTBEAT_S,
    Close,
    close,
    receive_text,
    run_until_first_end,
    send_text,
    wait_until_revoked,
)
from app.errors import LabError, TooMany
from app.sessions.events.frames import HelloFrame, ProblemFrame
from app.sessions.events.serialization import EventMessage
from app.sessions.events.watches import Frame, Watches, frame_text

HELLO = HelloFrame(kind="hello").model_dump_json()
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
    """An authorised socket that takes commands to watch, and sends frames.

    `take` charges a command, and raises TooMany.
    """

    def __init__(self, socket: WebSocket, watches: Watches, take: Callable[[], Awaitable[None]]) -> None:
        self._socket = socket
        self._watches = watches
        self._take = take

    async def serve(self, revoked: "asyncio.Task[None]") -> None:
        """Serve until the credential ends, or the client disconnects or reads too slowly."""
        # A disconnect before a failed send, which only follows from it.
        code = await run_until_first_end(self._receive(), self._send_frames(), wait_until_revoked(revoked))
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
            text = await receive_text(self._socket)
            if isinstance(text, Close):
                return text
            if problem := await self._carry_out(text):
                await self._send(problem.model_dump_json(exclude_none=True))

    async def _carry_out(self, text: str) -> ProblemFrame | None:
        """Carry a command out. Return why it was refused."""
        try:
            await self._take()
        except TooMany as refusal:
            return ProblemFrame(kind="problem", code=refusal.code, detail=refusal.detail)
        try:
            command = COMMAND.validate_json(text)
        except ValidationError:
            return ProblemFrame(kind="problem", code="invalid_message", detail=_USAGE)
        try:
            if isinstance(command, WatchSession):
                self._watches.watch(command.watch, command.session, command.since)
            elif isinstance(command, WatchLists):
                self._watches.watch_lists(command.watch)
            else:
                await self._watches.unwatch(command.watch)
        except LabError as refusal:
            # A refused command ends no other watch.
            return ProblemFrame(kind="problem", code=refusal.code, detail=refusal.detail, watch=command.watch)
        return None

    async def _send(self, text: str) -> None:
        await send_text(self._socket, text)
