import asyncio
from collections.abc import AsyncGenerator
from uuid import UUID

from starlette.types import Message
from starlette.websockets import WebSocket

from app.api.streams.browser_stream import BrowserSocket
from app.api.streams.socket_protocol import MAX_MESSAGE_BYTES, Close
from app.sessions.events.serialization import EventMessage
from app.sessions.events.watches import Watches


async def _no_events(session_id: UUID, since: int) -> AsyncGenerator[list[EventMessage], None]:
    return
    yield []


async def _accept_session(session_id: UUID) -> None:
    """Every session is the user's."""


async def _stand_still() -> int:
    return 0


async def _never() -> None:
    await asyncio.Event().wait()


async def _grant() -> None:
    """Charge no command."""


async def test_a_command_is_measured_in_bytes() -> None:
    two_byte_letters = "ä" * (MAX_MESSAGE_BYTES // 2 + 1)
    incoming = [{"type": "websocket.connect"}, {"type": "websocket.receive", "text": two_byte_letters}]
    sent: list[Message] = []

    async def receive() -> Message:
        return incoming.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    socket = WebSocket({"type": "websocket", "headers": []}, receive, send)
    await socket.accept()
    never_revoked = asyncio.create_task(_never())
    await BrowserSocket(socket, Watches(_no_events, _accept_session, _stand_still), _grant).serve(never_revoked)
    never_revoked.cancel()
    assert sent[-1]["code"] == Close.TOO_LARGE
