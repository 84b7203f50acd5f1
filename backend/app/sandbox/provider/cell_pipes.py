"""Reading ends of a cell's pipes: bounded, on the event loop, and never waited for after the cell has ended."""

import asyncio
import json
import os
from collections.abc import Callable

from app.sandbox.exchange.contract import Limits, Progress
from app.sandbox.exchange.request_format import MAX_PROGRESS_CHARACTERS

MAX_REPORT_OVERHEAD_BYTES = 1 << 20
"""Bytes for progress and faults beside a value."""

CHUNK_BYTES = 64 << 10
"""Bytes read at once: the capacity of a pipe on Linux."""


class BoundedPipe:
    """Collects data up to `limit_bytes`; beyond that the pipe is closed, which its writer gets as an error."""

    def __init__(self, limit_bytes: int, on_data: Callable[[bytearray], None] | None = None) -> None:
        self._reader, self.writer = os.pipe()
        os.set_blocking(self._reader, False)
        self._limit = limit_bytes
        self._on_data = on_data
        self._open = True
        self.data = bytearray()

    def watch(self) -> None:
        """Close the writing end, which the cell has now, and read as data comes."""
        # A writing end that stays open here would keep the pipe from ending with the cell.
        os.close(self.writer)
        asyncio.get_running_loop().add_reader(self._reader, self._read)

    def finish(self) -> None:
        """Read the remaining data and close. `data` is complete then, because every writer has ended."""
        while self._open and self._read():
            continue
        self._close()

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")

    def _read(self) -> bool:
        """Read one chunk. Returns False when there is no more for now, or the pipe was closed."""
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
    """Write all of `data` to a pipe as its reader takes it. Raises BrokenPipeError when the reader has gone."""
    os.set_blocking(writer, False)
    loop = asyncio.get_running_loop()
    remaining = memoryview(data)
    while remaining:
        try:
            remaining = remaining[os.write(writer, remaining) :]
        except BlockingIOError:
            ready = asyncio.Event()
            loop.add_writer(writer, ready.set)
            try:
                await ready.wait()
            finally:
                loop.remove_writer(writer)


class CellPipes:
    """The three pipes that a cell writes, and `requests`, the descriptor that it reads.

    `requests` is closed here once the cell has it. `on_report` is called with the data of the report when more
    has come, and may remove what it has read.
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
    """Calls `on_progress` once for each complete line of progress."""

    def __init__(self, on_progress: Progress) -> None:
        self._on_progress = on_progress
        self._parsed_bytes = 0

    def __call__(self, data: bytearray) -> None:
        end = data.rfind(b"\n") + 1
        for line in bytes(data[self._parsed_bytes : end]).splitlines():
            report_progress(line, self._on_progress)
        self._parsed_bytes = max(self._parsed_bytes, end)


def report_progress(line: bytes, on_progress: Progress) -> None:
    """Report a line of progress. Another line is the cell's answer, or one that `outcome` refuses."""
    try:
        fraction, text = json.loads(line)["progress"]
        share = min(1.0, max(0.0, float(fraction)))
    except (ValueError, KeyError, TypeError, RecursionError):
        return
    on_progress(share, str(text)[:MAX_PROGRESS_CHARACTERS])
