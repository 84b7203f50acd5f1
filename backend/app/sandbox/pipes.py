"""The reading ends of a cell's pipes: bounded, on the event loop, and never waited for after the cell ended."""

import asyncio
import json
import os
from collections.abc import Callable

from app.sandbox.contract import Limits, Progress

MAX_REPORT_OVERHEAD_BYTES = 1 << 20
"""Room for progress and faults beside a value. Bytes."""

CHUNK_BYTES = 64 << 10


class BoundedPipe:
    """Collects what arrives, up to `limit_bytes`; beyond that the pipe is closed and its writer notices."""

    def __init__(self, limit_bytes: int, on_data: Callable[[bytearray], None] | None = None) -> None:
        self._reader, self.writer = os.pipe()
        os.set_blocking(self._reader, False)
        self._limit = limit_bytes
        self._on_data = on_data
        self._open = True
        self.data = bytearray()

    def watch(self) -> None:
        """Give up the writing end, which is the cell's now, and read as data comes."""
        os.close(self.writer)
        asyncio.get_running_loop().add_reader(self._reader, self._read)

    def finish(self) -> None:
        """Read what is left and close; `data` is complete then, because every writer has ended."""
        while self._open and self._read():
            continue
        self._close()

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")

    def _read(self) -> bool:
        """Whether there may be more."""
        try:
            chunk = os.read(self._reader, CHUNK_BYTES)
        except BlockingIOError:
            return False
        self.data += chunk[: self._limit - len(self.data)]
        if self._on_data:
            self._on_data(self.data)
        if not chunk or len(self.data) >= self._limit:
            self._close()
        return self._open

    def _close(self) -> None:
        if self._open:
            self._open = False
            asyncio.get_running_loop().remove_reader(self._reader)
            os.close(self._reader)


async def write_all(writer: int, data: bytes) -> None:
    """Write all of it to a pipe as its reader takes it; raises BrokenPipeError when the reader has gone."""
    os.set_blocking(writer, False)
    loop = asyncio.get_running_loop()
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(writer, rest) :]
        except BlockingIOError:
            ready = asyncio.Event()
            loop.add_writer(writer, ready.set)
            try:
                await ready.wait()
            finally:
                loop.remove_writer(writer)


class CellPipes:
    """The three pipes that a cell writes, and `requests`, the descriptor that it reads, which is given away.

    `on_report` is called with all that is there when more of the report has come, and may take it away.
    """

    def __init__(
        self, requests: int, limits: Limits, on_report: Callable[[bytearray], None] | None = None
    ) -> None:
        self.requests = requests
        # One byte more than the cell writes when it keeps to its limit.
        self.stdout = BoundedPipe(limits.stdout_bytes + 1)
        self.stderr = BoundedPipe(limits.stdout_bytes + 1)
        self.report = BoundedPipe(limits.value_bytes + MAX_REPORT_OVERHEAD_BYTES, on_report)
        self._all = (self.stdout, self.stderr, self.report)

    def watch(self) -> None:
        os.close(self.requests)
        for pipe in self._all:
            pipe.watch()

    def finish(self) -> None:
        for pipe in self._all:
            pipe.finish()


class ProgressLines:
    """Calls `on_progress` for each whole line of progress, once."""

    def __init__(self, on_progress: Progress) -> None:
        self._on_progress = on_progress
        self._parsed_bytes = 0

    def __call__(self, data: bytearray) -> None:
        end = data.rfind(b"\n") + 1
        for line in bytes(data[self._parsed_bytes : end]).splitlines():
            report_progress(line, self._on_progress)
        self._parsed_bytes = max(self._parsed_bytes, end)


def report_progress(line: bytes, on_progress: Progress) -> None:
    """A line that is not progress is the cell's answer, or nonsense that `verdict` will refuse."""
    try:
        fraction, text = json.loads(line)["progress"]
        share = min(1.0, max(0.0, float(fraction)))
    except (ValueError, KeyError, TypeError, RecursionError):
        return
    on_progress(share, str(text)[:500])
