"""The server's HTTP connection, with what uvicorn leaves open: heads that are endless, slow or never come."""

import asyncio

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from app.api.failures import MEDIA_TYPE, problem
from app.api.middleware import CUT

MOST_HEAD_BYTES = 32 << 10
HEAD_S = 10.0
"""From the first byte of a request, or from connecting, to the end of its head."""


class EdgeProtocol(HttpToolsProtocol):
    """Takes a request's head up to a size, in time; lets the application drop the connection at once."""

    _head_bytes = 0
    _in_head = True
    _too_large = False
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as its parent
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._in_head or self.transport.is_closing():
            return
        self._head_bytes += len(data)
        if self._head_bytes > MOST_HEAD_BYTES:
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
        if sum(len(name) + len(value) for name, value in self.headers) + len(self.url) > MOST_HEAD_BYTES:
            self._too_large = True
            raise httptools.HttpParserError("the head is too large")
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """In our own form; the client may have sent nothing that could be answered otherwise."""
        self._stop_waiting()
        if self._too_large:
            answer = problem(431, "head_too_large", f"The request's head is over {MOST_HEAD_BYTES} bytes.")
        else:
            answer = problem(400, "not_http", "This is not an HTTP request that can be read.")
        line = f"HTTP/1.1 {answer.status_code} Bad Request\r\n"
        head = f"content-type: {MEDIA_TYPE}\r\ncontent-length: {len(answer.body)}\r\nconnection: close\r\n\r\n"
        self.transport.write((line + head).encode() + bytes(answer.body))
        self.transport.close()

    def _await_head(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(HEAD_S, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
