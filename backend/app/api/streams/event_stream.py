"""Server-sent events of a session: a response that ends with the session, the credential or the process."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, nullcontext
from typing import Generic, TypeVar

from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from app.api.streams.heartbeat import with_heartbeats
from app.api.streams.socket_protocol import HEARTBEAT_S
from app.api.streams.stream_lifetime import hold_stream
from app.auth.principal import Principal
from app.observability.metrics.api_requests import SLOW_CLIENTS
from app.sessions.events.serialization import EventMessage
from app.sessions.events.subscription import FellBehind
from app.tasks import cancel_and_wait

# nginx would hold events back until they fill its buffer.
SSE_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
Batch = TypeVar("Batch")
"""Events that are available at a time."""


def format_events(batch: Sequence[EventMessage]) -> str:
    return "".join(map(format_event, batch))


def format_event(event: EventMessage) -> str:
    return format_parts(event.seq, event.kind, event.data)


def format_parts(cursor: int | str | None, kind: str, data: str) -> str:
    """Write one event. `cursor`: None for an event that does not last."""
    head = "" if cursor is None else f"id: {cursor}\n"
    return f"{head}event: {kind}\ndata: {data}\n\n"


class EventStream(Response, Generic[Batch]):
    """Server-sent events until the session, credential or process ends. Clients reconnect by themselves.

    `write` makes the text of a batch.
    `preamble`: events that come before those of the session. `slot`: the task of `hold_stream`, if the request
    has a slot already; otherwise the response takes it.
    """

    def __init__(
        self,
        principal: Principal,
        events: AsyncGenerator[Batch, None],
        write: Callable[[Batch], str],
        preamble: str = "",
        headers: Mapping[str, str] | None = None,
        slot: "asyncio.Task[None] | None" = None,
    ) -> None:
        """`headers`: those of the response beside the usual ones of an event stream."""
        super().__init__()
        self._principal = principal
        self._events = events
        self._write = write
        self._preamble = preamble
        self._sse_headers = {**SSE_HEADERS, **(headers or {})}
        self._slot = slot

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises TooMany before the response starts."""
        request = Request(scope)
        slot = nullcontext(self._slot) if self._slot else hold_stream(request, self._principal, "sse")
        async with aclosing(self._events), slot as ended:
            stream = self._as_sse(ended, request.app.state.leaving)
            answer = StreamingResponse(stream, media_type="text/event-stream", headers=self._sse_headers)
            await answer(scope, receive, send)

    async def _as_sse(self, ended: "asyncio.Task[None]", leaving: asyncio.Event) -> AsyncIterator[str]:
        """Format events. A client that reads too slowly is cut off, and reconnects with its cursor."""
        yield f"retry: 1000\n\n{self._preamble}"
        over = asyncio.create_task(_wait_for_any(ended, leaving))
        try:
            async with aclosing(with_heartbeats(self._events, HEARTBEAT_S, over)) as batches:
                async for batch in batches:
                    yield ": heartbeat\n\n" if batch is None else self._write(batch)
        except FellBehind:
            SLOW_CLIENTS.labels("events").inc()
        finally:
            await cancel_and_wait(over)


async def _wait_for_any(ended: "asyncio.Task[None]", leaving: asyncio.Event) -> None:
    shutdown = asyncio.create_task(leaving.wait())
    try:
        await asyncio.wait({ended, shutdown}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await cancel_and_wait(shutdown)
