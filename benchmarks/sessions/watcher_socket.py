"""Client socket of a watcher. It stores bytes with their times, and decodes them later."""

import asyncio
import json
import os
import time
from base64 import b64encode
from typing import Any

_SESSION_STREAM = "/api/v1/lab/agent/sessions/{session}/stream"
_UPGRADE = (
    "GET {path} HTTP/1.1\r\nHost: bench\r\n"
    "Authorization: Bearer {token}\r\n"
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n"
)
_TEXT, _CLOSE, _PONG = 1, 8, 10
"""Opcodes of frames (RFC 6455, section 5.2)."""
_PING = b"\x89\x04"
"""How a ping of the server begins; its events are ASCII, so that nothing else does."""


class Socket(asyncio.Protocol):
    """A socket. `pieces`: the pieces of the stream as they came, each with its time (monotonic nanoseconds)."""

    def __init__(self) -> None:
        self.pieces: list[tuple[int, bytes]] = []
        self.is_closed = False
        self.handshake: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._head = b""

    @classmethod
    async def connect(cls, port: int, session: str, token: str) -> "Socket":
        """Open the stream of one session."""
        return await cls.open(port, _SESSION_STREAM.format(session=session), token)

    @classmethod
    async def open(cls, port: int, path: str, token: str) -> "Socket":
        loop = asyncio.get_running_loop()
        transport, socket = await loop.create_connection(cls, "127.0.0.1", port)
        key = b64encode(os.urandom(16)).decode()
        transport.write(_UPGRADE.format(path=path, token=token, key=key).encode())
        socket._transport = transport
        await socket.handshake
        return socket

    def data_received(self, data: bytes) -> None:
        at = time.monotonic_ns()
        if self.handshake.done():
            if (ping := data.find(_PING)) >= 0:
                self._transport.write(_pong(data[ping:]))
            self.pieces.append((at, data))
            return
        self._head += data
        head, end, rest = self._head.partition(b"\r\n\r\n")
        if end:
            if b" 101 " not in head:
                self.handshake.set_exception(ConnectionError(head.decode()))
                return
            self.handshake.set_result(None)
            if rest:
                self.pieces.append((at, rest))

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_closed = True
        if not self.handshake.done():
            self.handshake.set_exception(exc or ConnectionError("closed before it was open"))

    def send(self, text: str) -> None:
        self._transport.write(_masked(_TEXT, text.encode()))

    def close(self) -> None:
        self._transport.abort()

    def events(self) -> list[tuple[int, dict[str, Any]]]:
        """Return each event with its time. Raises ConnectionError if the server has closed the socket."""
        events, rest, at = [], b"", 0
        for at, piece in self.pieces:
            rest += piece
            while (frame := _frame(rest)) is not None:
                kind, body, rest = frame
                if kind == _TEXT:
                    events.append((at, json.loads(body)))
                elif kind == _CLOSE:
                    raise ConnectionError(body.decode(errors="replace"))
        return events


def _pong(ping: bytes) -> bytes:
    return _masked(_PONG, ping[2 : 2 + ping[1]])


def _masked(kind: int, body: bytes) -> bytes:
    """Encode a frame of a client, with a mask that changes nothing."""
    size = bytes((0x80 | len(body),)) if len(body) < 126 else bytes((0xFE,)) + len(body).to_bytes(2)
    return bytes((0x80 | kind,)) + size + bytes(4) + body


def _frame(data: bytes) -> tuple[int, bytes, bytes] | None:
    """Decode a frame of a server: its kind, its body, and the bytes after it. None while it is not complete."""
    if len(data) < 2:
        return None
    size, begin = data[1], 2
    if size > 125:
        begin = 4 if size == 126 else 10
        size = int.from_bytes(data[2:begin])
    if len(data) < begin + size:
        return None
    return data[0] & 15, data[begin : begin + size], data[begin + size :]
