"""A client as thin as one can be, so that the two cores are the service's."""

import asyncio
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SESSIONS = "/api/v1/lab/agent/sessions"
_ENDS = (b"session_finished", b"session_failed", b"session_cancelled")


@dataclass(frozen=True)
class Timing:
    """Milliseconds from sending POST: to its answer, to the first durable event, to the terminal event."""

    created_ms: float
    first_ms: float
    terminal_ms: float


class Client:
    """One kept-alive HTTP connection of one user."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: str) -> None:
        self._reader = reader
        self._writer = writer
        self._token = token

    @classmethod
    async def connect(cls, port: int, token: str = "") -> "Client":
        return cls(*await asyncio.open_connection("127.0.0.1", port), token)

    async def call(self, method: str, path: str, body: dict[str, object] | None = None) -> dict[str, Any]:
        """The answer; RuntimeError when it is a refusal."""
        self._send(method, path, body)
        return await self._answer(method, path)

    async def send_file(self, path: str, file: Path) -> dict[str, Any]:
        """POST a file as the body itself."""
        with file.open("rb") as source:
            size = os.fstat(source.fileno()).st_size
            self._writer.write(self._head_of("POST", path, "application/octet-stream", size))
            await asyncio.get_running_loop().sendfile(self._writer.transport, source)
        return await self._answer("POST", path)

    async def _answer(self, method: str, path: str) -> dict[str, Any]:
        status, headers = await self._head()
        answer: dict[str, Any] = json.loads(await self._reader.readexactly(int(headers[b"content-length"])))
        if status >= 400:
            raise RuntimeError(f"{method} {path}: {status} {answer}")
        return answer

    async def run_session(self) -> Timing:
        """Create a session and read its events over SSE until it has ended."""
        started = time.perf_counter()
        created = await self.call("POST", _SESSIONS, {"goal": "do nothing, nine times"})
        created_ms = _since_ms(started)
        self._send("GET", f"{_SESSIONS}/{created['id']}/events", None)
        await self._head()
        first_ms = terminal_ms = 0.0
        while size := int(await self._reader.readline(), 16):
            chunk = (await self._reader.readexactly(size + 2))[:-2]
            if not first_ms and b"id: " in chunk:
                first_ms = _since_ms(started)
            if any(end in chunk for end in _ENDS):
                terminal_ms = _since_ms(started)
                if b"session_finished" not in chunk:
                    raise RuntimeError(chunk.decode())
        await self._reader.readline()
        return Timing(created_ms, first_ms, terminal_ms)

    def _send(self, method: str, path: str, body: dict[str, object] | None) -> None:
        raw = json.dumps(body).encode() if body is not None else b""
        self._writer.write(self._head_of(method, path, "application/json", len(raw)) + raw)

    def _head_of(self, method: str, path: str, kind: str, size: int) -> bytes:
        return (
            f"{method} {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {self._token}\r\n"
            f"Content-Type: {kind}\r\nContent-Length: {size}\r\n\r\n"
        ).encode()

    async def _head(self) -> tuple[int, dict[bytes, bytes]]:
        lines = (await self._reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
        pairs = (line.split(b": ", 1) for line in lines[1:] if line)
        return int(lines[0].split(b" ")[1]), {name.lower(): value for name, value in pairs}

    def use(self, token: str) -> None:
        self._token = token

    def close(self) -> None:
        self._writer.close()


def _since_ms(started: float) -> float:
    return (time.perf_counter() - started) * 1000
