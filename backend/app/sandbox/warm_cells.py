"""Cells that stay for the next request of the same key: a stored model is loaded once, not for every row.

The contract's walls, limits and cancel hold as in any cell, and whoever else asks gets another cell. A kept
cell ends when nothing is asked of it for a while, when it has lived long, and when a request ended badly in it.
"""

import asyncio
import contextlib
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.sandbox.contract import CellRequest, Computation, End, Outcome, Progress, Usage
from app.sandbox.folders import remove
from app.sandbox.link import wait_until_done
from app.sandbox.outcome import ProcessEnd, judge, parse_report, reported_outcome
from app.sandbox.pipes import CellPipes, report_progress, write_all
from app.sandbox.ready import ZYGOTE_DIED, ReadyZygote
from app.sandbox.wire import encode_request

MAX_LIFETIME_S = 900.0

_REUSABLE_ENDS = (End.RETURNED, End.REFUSED)


class WarmCells:
    """At most `most` wait for more; how many compute is the provider's to bound."""

    def __init__(self, scratch: Path, most: int, idle_s: float) -> None:
        self._scratch = scratch
        self._most = most
        self._idle_s = idle_s
        self._cells: dict[object, WarmCell] = {}  # the longest unused first

    async def run(
        self, zygote: ReadyZygote, work: Computation, request: CellRequest, on_progress: Progress | None
    ) -> Outcome | None:
        """As the contract says; None if the cell broke that had served before: ask again, and get a new one."""
        key = (work.warm_for, work.function, tuple(sorted(request.inputs.items())), request.limits)
        one = self._take(key, zygote, request)
        async with one.turn:
            if one.is_over:  # it ended while we waited
                return None
            outcome = await one.serve(work, request.limits.time_s, on_progress)
        if outcome.end in _REUSABLE_ENDS:
            one.wait(self._idle_s)
            self._end_surplus()
            return outcome
        return outcome if one.served == 1 or outcome.end is End.TIMED_OUT else None

    async def close(self) -> None:
        for one in [*self._cells.values()]:
            await one.end()

    def _take(self, key: object, zygote: ReadyZygote, request: CellRequest) -> "WarmCell":
        one = self._cells.pop(key, None)
        if one is None or one.is_over:
            one = WarmCell(zygote, request, self._scratch)
            one.life.add_done_callback(lambda life: self._forget(key, life))
        self._cells[key] = one
        return one

    def _forget(self, key: object, life: "asyncio.Task[ProcessEnd | None]") -> None:
        if key in self._cells and self._cells[key].life is life:
            del self._cells[key]
        if not life.cancelled():
            life.exception()  # who asked has heard of it

    def _end_surplus(self) -> None:
        idle = [one for one in self._cells.values() if not one.turn.locked()]
        for one in idle[: max(0, len(self._cells) - self._most)]:
            one.dismiss()


class WarmCell:
    """One such cell. `turn`: it serves one request at a time. `life` is done when it has ended."""

    def __init__(self, zygote: ReadyZygote, request: CellRequest, scratch: Path) -> None:
        self.turn = asyncio.Lock()
        self.served = 0
        self.is_over = False
        self._limits = replace(request.limits, time_s=MAX_LIFETIME_S)
        self._trusted = request.trusted
        self._answer_limits = request.answer_limits
        self._answer: asyncio.Future[Outcome] | None = None
        self._on_progress: Progress | None = None
        self._asked_at = 0.0
        self._idle: asyncio.TimerHandle | None = None
        self._lines: asyncio.Queue[Computation] = asyncio.Queue()
        self.life = asyncio.create_task(self._live(zygote, request, scratch))

    async def serve(self, work: Computation, time_s: float, on_progress: Progress | None) -> Outcome:
        """One request. A cell that does not return or refuse has ended when this returns or is cancelled."""
        self.served += 1
        if self._idle:
            self._idle.cancel()
        self._asked_at, self._on_progress = time.monotonic(), on_progress
        self._answer = asyncio.get_running_loop().create_future()
        self._lines.put_nowait(work)
        try:
            ways: list[asyncio.Future[Any]] = [self._answer, self.life]
            await asyncio.wait(ways, timeout=time_s, return_when=asyncio.FIRST_COMPLETED)
            outcome = self._outcome()
        except asyncio.CancelledError:
            await self.end()
            raise
        if outcome.end not in _REUSABLE_ENDS:
            await self.end()
        return outcome

    def wait(self, idle_s: float) -> None:
        """End unless it is asked for more within that time."""
        self._idle = asyncio.get_running_loop().call_later(idle_s, self._dismiss_if_idle)

    def dismiss(self) -> None:
        self.is_over = True
        self.life.cancel()

    async def end(self) -> None:
        """Dismiss it, and return when it has ended."""
        self.dismiss()
        await wait_until_done(self.life)

    def _dismiss_if_idle(self) -> None:
        if not self.turn.locked():
            self.dismiss()

    def _outcome(self) -> Outcome:
        usage = Usage(time.monotonic() - self._asked_at, 0.0, 0)
        if self._answer and self._answer.done():
            return replace(self._answer.result(), usage=usage)
        if not self.life.done():
            return Outcome(End.TIMED_OUT, usage)
        ending = None if self.life.cancelled() else self.life.result()
        return judge(ending, b"", self._limits, self._trusted) if ending else ZYGOTE_DIED

    async def _live(self, zygote: ReadyZygote, request: CellRequest, scratch: Path) -> ProcessEnd | None:
        home = Path(tempfile.mkdtemp(prefix="kept-", dir=scratch))
        try:
            output = home / "output"
            output.mkdir()
            async with zygote.localized(replace(request, output=output, limits=self._limits)) as within:
                return await self._serve_at(zygote, within)
        finally:
            self.is_over = True
            await asyncio.to_thread(remove, home)

    async def _serve_at(self, zygote: ReadyZygote, request: CellRequest) -> ProcessEnd | None:
        reader, writer = os.pipe()
        pipes = CellPipes(reader, self._limits, self._hear)
        feeding = asyncio.create_task(self._feed(writer, request))
        try:
            ending = await zygote.link.run(request, pipes)
            if ending and ending.folder is not None:
                os.close(ending.folder)
            return ending
        finally:
            feeding.cancel()
            await asyncio.wait([feeding])
            os.close(writer)
            pipes.finish()

    async def _feed(self, writer: int, request: CellRequest) -> None:
        with contextlib.suppress(BrokenPipeError):
            while True:
                await write_all(writer, encode_request(replace(request, work=await self._lines.get())))

    def _hear(self, data: bytearray) -> None:
        """Take whole lines: progress, the answer, or something that was not asked for."""
        while (end := data.find(b"\n")) >= 0:
            line = bytes(data[:end])
            del data[: end + 1]
            said = parse_report(line, self._answer_limits)
            if said is None:
                if self._on_progress:
                    report_progress(line, self._on_progress)
            elif self._answer and not self._answer.done():
                self._answer.set_result(reported_outcome(said, Usage(0.0, 0.0, 0)))
            else:
                self.dismiss()
