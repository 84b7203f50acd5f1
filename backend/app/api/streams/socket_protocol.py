"""The protocol that all sockets share: close codes, limits of frames, and which end comes first."""

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from enum import IntEnum
from typing import Any
from uuid import UUID

import structlog
from fastapi import WebSocket, WebSocketDisconnect

from app.db.pool import is_away
from app.errors import LabError
from app.observability.metrics.api_requests import REFUSALS, SLOW_CLIENTS
from app.sessions.events.subscription import FellBehind
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


@asynccontextmanager
async def closing_on_failure(socket: WebSocket, session_id: UUID | None = None) -> AsyncIterator[None]:
    """Close the socket with the code of what the block raises.

    Refusals are close codes: browsers do not show why a handshake was refused. `session_id`: None for a socket
    of many sessions.
    """
    try:
        yield
    except LabError as refusal:
        if refusal.kind == "too_many":
            REFUSALS.labels(refusal.code).inc()
        await close(socket, CLOSE_CODES.get(refusal.kind, Close.NOT_SIGNED_IN))
    except Exception as error:  # noqa: BLE001 - the edge: it is logged
        await close(socket, _log_failure(error, session_id))


async def run_until_first_end(
    *work: Coroutine[Any, Any, Close], session_id: UUID | None = None
) -> Close | None:
    """Run coroutines until one has ended, stop the others, and return the close code.

    None if the client has disconnected. Of several that have ended the first in order counts.
    """
    tasks = [asyncio.create_task(part) for part in work]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        ended = next(task for task in tasks if task.done())
    finally:
        await cancel_and_wait(*tasks)
        for task in tasks:
            _ = task.cancelled() or task.exception()  # asyncio logs an exception that nobody has taken
    return _close_code(ended, session_id)


async def wait_until_revoked(revoked: "asyncio.Task[None]") -> Close:
    """Wait for the end of the credential."""
    # The task belongs to the stream, which waits for it too.
    await asyncio.shield(revoked)
    return Close.NOT_SIGNED_IN


async def receive_text(socket: WebSocket) -> str | Close:
    """Receive a text frame, or return the close code of a frame that is refused.

    Raises WebSocketDisconnect.
    """
    frame = await socket.receive()
    if frame["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(frame.get("code", 1005), frame.get("reason"))
    text: str | None = frame.get("text")
    if text is None:
        return Close.NOT_A_MESSAGE
    return Close.TOO_LARGE if len(text.encode()) > MAX_MESSAGE_BYTES else text


async def send_text(socket: WebSocket, text: str, max_send_s: float = MAX_SEND_S) -> None:
    """Send a text frame. Raises SlowClient if the client does not accept it in time."""
    try:
        async with asyncio.timeout(max_send_s):
            await socket.send_text(text)
    except TimeoutError as error:
        raise SlowClient from error


async def close(socket: WebSocket, code: Close) -> None:
    """Close the socket; after MAX_CLOSE_S without the handshake of the client, give up."""
    with suppress(TimeoutError, WebSocketDisconnect):
        async with asyncio.timeout(MAX_CLOSE_S):
            await socket.close(code, REASONS[code])


def _close_code(ended: "asyncio.Task[Close]", session_id: UUID | None) -> Close | None:
    try:
        return ended.result()
    except WebSocketDisconnect:
        return None
    except (FellBehind, SlowClient):
        SLOW_CLIENTS.labels("socket").inc()
        return Close.TOO_SLOW
    except Exception as error:  # noqa: BLE001 - the edge: it is logged
        return _log_failure(error, session_id)


def _log_failure(error: Exception, session_id: UUID | None) -> Close:
    """Log a failure and return its close code. `session_id`: None for a socket of many sessions."""
    session = str(session_id) if session_id else None
    if is_away(error):
        log.warning("database_away", error=type(error).__name__, session_id=session)
        return Close.UNAVAILABLE
    log.error("socket_failed", session_id=session, exc_info=error)
    return Close.BROKEN
