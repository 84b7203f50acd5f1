"""Drawings of charts, by the drawing process of the host."""

import asyncio
import base64
import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.charts.drawing_launch import start_own
from app.charts.drawing_process import (
    MAX_MESSAGE_BYTES,
    MAX_WALL_S,
    ChartRefused,
    frame_message,
)
from app.json_types import JsonValue

PNG_SCALE = 2.0
"""Pixels of a PNG for one of the specification: sharp on dense screens."""
_QUEUE_S = 2 * MAX_WALL_S
"""Seconds until an answer: for a chart at its limit, and one before it."""


@dataclass(frozen=True)
class ChartImages:
    """The drawing of a chart in both formats."""

    svg: bytes
    png: bytes


class ChartRenderer:
    """Draws charts. `path`: socket of the host's drawing process; None: one of this process's own."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._own: subprocess.Popen[bytes] | None = None
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._turn = asyncio.Lock()

    async def draw(self, specification: Mapping[str, JsonValue]) -> ChartImages:
        """Draw a specification that holds its rows. Raises ChartRefused with a sentence for the user."""
        request = frame_message(json.dumps({"specification": specification, "scale": PNG_SCALE}).encode())
        if len(request) > MAX_MESSAGE_BYTES:
            raise ChartRefused(f"The chart has more than {MAX_MESSAGE_BYTES >> 20} MB of rows.")
        try:
            async with asyncio.timeout(_QUEUE_S):
                answer = await (self._ask_host(request) if self._path else self._ask_own(request))
        except (OSError, EOFError, TimeoutError) as error:
            raise ChartRefused("Charts cannot be drawn now: the drawing process does not answer.") from error
        if "problem" in answer:
            raise ChartRefused(answer["problem"])
        return ChartImages(answer["svg"].encode(), base64.b64decode(answer["png"]))

    async def close(self) -> None:
        """End the drawing process, if it is this process's own."""
        if self._streams is not None:
            self._streams[1].close()
        if self._own is not None:
            self._own.kill()
            self._own.wait()
        self._own = self._streams = None

    async def _ask_host(self, request: bytes) -> dict[str, str]:
        reader, writer = await asyncio.open_unix_connection(self._path)
        try:
            return await _exchange(reader, writer, request)
        finally:
            writer.close()

    async def _ask_own(self, request: bytes) -> dict[str, str]:
        async with self._turn:  # answers carry no number: one request at a time
            if self._own is not None and self._own.poll() is not None:
                await self.close()
            if self._streams is None:
                connection, self._own = start_own()
                self._streams = await asyncio.open_unix_connection(sock=connection)
            try:
                return await _exchange(*self._streams, request)
            except BaseException:
                await self.close()  # an answer that comes later would be taken for that of the next request
                raise


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes
) -> dict[str, str]:
    writer.write(request)
    await writer.drain()
    length = int.from_bytes(await reader.readexactly(4), "big")
    answer: dict[str, str] = json.loads(await reader.readexactly(length))
    return answer
