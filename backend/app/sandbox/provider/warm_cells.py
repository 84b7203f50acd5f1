"""Warm cells, which stay for the next request of the same key: a stored model is not loaded for every row.

Isolation, limits and cancellation hold as in any cell, and a request of another key gets another cell. A warm
cell ends when it was idle for a while, when it is old, and when a request ended badly in it.
"""

import asyncio
import contextlib
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.sandbox.exchange.contract import CellRequest, Computation, End, Outcome, Progress, Usage
from app.sandbox.exchange.request_format import encode_request
from app.sandbox.outputs.folders import remove
from app.sandbox.provider.cell_pipes import CellPipes, report_progress, write_all
from app.sandbox.provider.outcome import ProcessEnd, judge, parse_report
from app.sandbox.provider.ready_zygote import ZYGOTE_DIED, ReadyZygote
from app.sandbox.provider.zygote_connection import wait_until_done

MAX_LIFETIME_S = 900.0
"""Seconds after which a warm cell is replaced: its deadline, and a bound on what requests leave in it."""
_REUSABLE_ENDS = (End.RETURNED, End.REFUSED)


class WarmCells:
    """Pool of warm cells. At most `max_cells` stay idle; the provider bounds how many compute."""

    def __init__(self, scratch: Path, max_cells: int, max_idle_s: float) -> None:
        self._scratch = scratch
        self._max_cells = max_cells
        self._max_idle_s = max_idle_s
        self._cells: dict[object, WarmCell] = {}  # least recently used first

    async def run(
        self, zygote: ReadyZygote, work: Computation, request: CellRequest, on_progress: Progress | None
    ) -> Outcome | None:
        """Run a request in the warm cell of its key, made if there is none.

        Returns None if a cell broke that had served before: the caller tries again, and gets a new cell.
        """
        # The owner is part of the key: a cell that has read one owner's model serves no other.
        key = (work.warm_for, work.function, tuple(sorted(request.inputs.items())), request.limits)
        cell = self._get_cell(key, zygote, request)
        async with cell.lock:
            if cell.is_over:  # it ended while this request waited for the lock
                return None
            outcome = await cell.serve(work, request.limits.time_s, on_progress)
        if outcome.end in _REUSABLE_ENDS:
            cell.start_idle_timer(self._max_idle_s)
            self._end_surplus()
            return outcome
        # A failure of the first request is its own; a later one may come of what an earlier request left.
        return outcome if cell.request_count == 1 or outcome.end is End.TIMED_OUT else None

    async def close(self) -> None:
        for cell in [*self._cells.values()]:
            await cell.end()

    def _get_cell(self, key: object, zygote: ReadyZygote, request: CellRequest) -> "WarmCell":
        # Taken out and put back at the end, so that the order is that of the last use.
        cell = self._cells.pop(key, None)
        if cell is None or cell.is_over:
            cell = WarmCell(zygote, request, self._scratch)
            cell.lifetime.add_done_callback(lambda lifetime: self._forget(key, lifetime))
        self._cells[key] = cell
        return cell

    def _forget(self, key: object, lifetime: "asyncio.Task[ProcessEnd | None]") -> None:
        if key in self._cells and self._cells[key].lifetime is lifetime:
            del self._cells[key]
        if not lifetime.cancelled():
            lifetime.exception()  # retrieved, so that asyncio does not log it: the request has raised it

    def _end_surplus(self) -> None:
        idle = [cell for cell in self._cells.values() if not cell.lock.locked()]
        for cell in idle[: max(0, len(self._cells) - self._max_cells)]:
            cell.dismiss()


class WarmCell:
    """A cell that serves several requests, one at a time (`lock`). `lifetime` is done when it has ended."""

    def __init__(self, zygote: ReadyZygote, request: CellRequest, scratch: Path) -> None:
        self.lock = asyncio.Lock()
        self.request_count = 0
        self.is_over = False
        self._limits = replace(request.limits, time_s=MAX_LIFETIME_S)
        self._trusted = request.trusted
        self._answer_limits = request.answer_limits
        self._answer: asyncio.Future[Outcome] | None = None
        self._on_progress: Progress | None = None
        self._requested_at = 0.0
        self._idle_timer: asyncio.TimerHandle | None = None
        self._requests: asyncio.Queue[Computation] = asyncio.Queue()
        self.lifetime = asyncio.create_task(self._run(zygote, request, scratch))

    async def serve(self, work: Computation, time_s: float, on_progress: Progress | None) -> Outcome:
        """Serve one request. A cell that neither returns nor refuses ends before this returns or raises."""
        self.request_count += 1
        if self._idle_timer:
            self._idle_timer.cancel()
        self._requested_at, self._on_progress = time.monotonic(), on_progress
        self._answer = asyncio.get_running_loop().create_future()
        self._requests.put_nowait(work)
        try:
            waits: list[asyncio.Future[Any]] = [self._answer, self.lifetime]
            await asyncio.wait(waits, timeout=time_s, return_when=asyncio.FIRST_COMPLETED)
            outcome = self._outcome()
        except asyncio.CancelledError:
            # It may be in the middle of this request, and would answer the next one with it.
            await self.end()
            raise
        if outcome.end not in _REUSABLE_ENDS:
            await self.end()
        return outcome

    def start_idle_timer(self, max_idle_s: float) -> None:
        """End the cell unless a request comes within that time."""
        self._idle_timer = asyncio.get_running_loop().call_later(max_idle_s, self._dismiss_if_idle)

    def dismiss(self) -> None:
        self.is_over = True
        self.lifetime.cancel()

    async def end(self) -> None:
        """Dismiss the cell, and return when it has ended."""
        self.dismiss()
        await wait_until_done(self.lifetime)

    def _dismiss_if_idle(self) -> None:
        if not self.lock.locked():
            self.dismiss()

    def _outcome(self) -> Outcome:
        # The kernel counts processor time and peak by process, not by request: only the time is known.
        usage = Usage(time.monotonic() - self._requested_at, 0.0, 0)
        if self._answer and self._answer.done():
            return replace(self._answer.result(), usage=usage)
        if not self.lifetime.done():
            return Outcome(End.TIMED_OUT, usage)
        ending = None if self.lifetime.cancelled() else self.lifetime.result()
        return judge(ending, b"", self._limits, self._trusted) if ending else ZYGOTE_DIED

    async def _run(self, zygote: ReadyZygote, request: CellRequest, scratch: Path) -> ProcessEnd | None:
        home = Path(tempfile.mkdtemp(prefix="kept-", dir=scratch))
        try:
            output = home / "output"
            output.mkdir()
            async with zygote.localized(replace(request, output=output, limits=self._limits)) as local_request:
                return await self._run_cell(zygote, local_request)
        finally:
            self.is_over = True
            await asyncio.to_thread(remove, home)

    async def _run_cell(self, zygote: ReadyZygote, request: CellRequest) -> ProcessEnd | None:
        reader, writer = os.pipe()
        pipes = CellPipes(reader, self._limits, self._read_report)
        writing = asyncio.create_task(self._write_requests(writer, request))
        try:
            ending = await zygote.link.run(request, pipes)
            # A warm cell leaves no files.
            if ending and ending.folder is not None:
                os.close(ending.folder)
            return ending
        finally:
            # Before the descriptor is closed: another file may get its number at once.
            writing.cancel()
            await asyncio.wait([writing])
            os.close(writer)
            pipes.finish()

    async def _write_requests(self, writer: int, request: CellRequest) -> None:
        with contextlib.suppress(BrokenPipeError):
            while True:
                await write_all(writer, encode_request(replace(request, work=await self._requests.get())))

    def _read_report(self, data: bytearray) -> None:
        """Remove complete lines from `data`: progress, or the answer. An unexpected answer ends the cell."""
        while (end := data.find(b"\n")) >= 0:
            line = bytes(data[:end])
            del data[: end + 1]
            report = parse_report(line, self._answer_limits)
            if report is None:
                if self._on_progress:
                    report_progress(line, self._on_progress)
            elif self._answer and not self._answer.done():
                self._answer.set_result(report.outcome(Usage(0.0, 0.0, 0)))
            else:
                self.dismiss()  # its answers no longer match its requests
