"""HTTP and WebSocket protocols of the server: limits of request heads, and frames written without a task."""

import asyncio
from functools import lru_cache

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request

from app.api.exception_handlers import MEDIA_TYPE, ProblemResponse, problem
from app.api.server.middleware import CUT

PUSH = "labcrew.push"
"""Extension of a socket's ASGI scope: its `frames` is `EdgeSocketProtocol.push`."""
MAX_HEAD_BYTES = 32 << 10
"""As nginx accepts by default: four buffers of 8 KiB."""
MAX_HEAD_S = 10.0
"""Seconds from the connection or the first byte of a request to the end of its head."""

MAX_PARTS = 1_000
"""Frames of one client in PARTS_WINDOW_S that end no message: pings, pongs, parts of messages. Libraries send
one in 20 seconds, and divide the largest message into a few dozen."""
PARTS_WINDOW_S = 10.0


class EdgeProtocol(HttpToolsProtocol):
    """Limit the size and time of request heads, and let the application drop the connection."""

    _head_bytes = 0
    _in_head = True
    _too_large = False
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as its parent
        super().connection_made(transport)
        # From the connection on: a client that sends nothing at all is dropped as well.
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        # The parser first: the head may end in this piece.
        super().data_received(data)
        if not self._in_head or self.transport.is_closing():
            return
        self._head_bytes += len(data)
        if self._head_bytes > MAX_HEAD_BYTES:
            self._too_large = True
            self.send_400_response("")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["extensions"] = {CUT: {"now": self.transport.abort}}
        self._in_head, self._head_bytes = True, 0
        self._await_head()

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._stop_waiting()
        # A head that arrived in one piece was not counted while it arrived.
        if sum(len(name) + len(value) for name, value in self.headers) + len(self.url) > MAX_HEAD_BYTES:
            self._too_large = True
            raise httptools.HttpParserError("the head is too large")
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer with a problem document: there is no request that the application could handle."""
        self._stop_waiting()
        if self._too_large:
            answer = problem(431, "head_too_large", f"The request's head is over {MAX_HEAD_BYTES} bytes.")
        else:
            answer = problem(400, "not_http", "This is not an HTTP request that can be read.")
        _answer_and_close(self.transport, answer)

    def _await_head(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(MAX_HEAD_S, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _answer_and_close(transport: asyncio.Transport, answer: ProblemResponse) -> None:
    """Write a problem document, where uvicorn would answer with plain text or not at all."""
    line = f"HTTP/1.1 {answer.status_code} Bad Request\r\n"
    head = f"content-type: {MEDIA_TYPE}\r\ncontent-length: {len(answer.body)}\r\nconnection: close\r\n\r\n"
    transport.write((line + head).encode() + bytes(answer.body))
    transport.close()


class EdgeSocketProtocol(WebSocketsSansIOProtocol):
    """Let the application write frames, which many sockets share, without waiting, and bound the frames that it
    does not see."""

    _parts = 0
    _window_ends = 0.0

    def data_received(self, data: bytes) -> None:
        """Refuse a handshake that cannot be read, such as one with a body: nothing would end its connection."""
        super().data_received(data)
        # The head comes complete from the HTTP protocol, so that no rest of it can follow.
        if not self.handshake_initiated and not self.transport.is_closing():
            detail = "This is not a WebSocket handshake that can be read."
            _answer_and_close(self.transport, problem(400, "not_websocket", detail))

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if self.response.status_code == 101:
            self.scope["extensions"][PUSH] = {"frames": self.push}

    def handle_cont(self, event: Frame) -> None:
        if event.fin or self._takes_part():
            super().handle_cont(event)

    def handle_text(self, event: Frame) -> None:
        if event.fin or self._takes_part():
            super().handle_text(event)

    def handle_ping(self) -> None:
        # Answered at once, whether or not the client reads: each answer that it does not read stays in memory.
        if self._takes_part():
            super().handle_ping()

    def handle_pong(self, event: Frame) -> None:
        if self._takes_part():
            super().handle_pong(event)

    def _takes_part(self) -> bool:
        """Count a frame that ends no message; close the connection, and return False, where they are too many.

        The application counts messages, but sees no others: a client could fill the memory with them, six bytes
        at a time.
        """
        if self.close_sent:
            return False
        now = self.loop.time()
        if now >= self._window_ends:
            self._parts, self._window_ends = 0, now + PARTS_WINDOW_S
        self._parts += 1
        if self._parts <= MAX_PARTS:
            return True
        self.frames = []
        self.conn.fail(CloseCode.POLICY_VIOLATION, "Too many pings, or parts of messages.")
        self.handle_parser_exception()
        return False

    def keepalive_timeout(self) -> None:
        """Mark the connection as closed for the application too, which may be about to send."""
        super().keepalive_timeout()
        self.disconnected = True

    def send_receive_event_to_app(self) -> None:
        """Close with 1007 for text that is not UTF-8, for which uvicorn would log a traceback."""
        if self.curr_msg_data_type == "text" and not self.close_sent:
            try:
                b"".join(self.frames).decode()
            except UnicodeDecodeError:
                self.frames = []
                self.conn.send_close(CloseCode.INVALID_DATA, "A text frame was not UTF-8.")
                self.handle_parser_exception()
                return
        super().send_receive_event_to_app()

    def push(self, frames: bytes) -> bool:
        """Write complete frames; False if earlier ones are still buffered, or the connection is closing."""
        ready = (
            self.handshake_complete
            and self.writable.is_set()
            and not (self.close_sent or self.disconnected or self.transport.is_closing())
        )
        if ready:
            self.transport.write(frames)
        return ready


@lru_cache(maxsize=64)
def text_frame(text: str) -> bytes:
    """Return a text frame of a server. Cached, since an event goes to all its subscribers."""
    return bytes(Frame(Opcode.TEXT, text.encode()).serialize(mask=False))
