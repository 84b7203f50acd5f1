"""The default provider: cells are forks of a zygote on this host."""

import asyncio
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from app.errors import Unavailable
from app.sandbox.contract import CellRequest, End, Fault, Outcome, Progress, Usage
from app.sandbox.folders import Content, copy_out, survey
from app.sandbox.link import ZygoteLink
from app.sandbox.pipes import CellPipes
from app.sandbox.scratch import Scratch, sweep
from app.sandbox.verdict import judge


@dataclass(frozen=True)
class ProcessConfig:
    """`home`: a folder of ours on a disk with room. `max_cells`: how many compute at once; more wait.

    `tier`: "best", or the one of `walls.Tier` to use.
    """

    home: Path
    max_cells: int = 16
    tier: str = "best"


class ProcessProvider:
    """Serves one event loop. `scratch` is where its callers make output folders: swept if we are killed."""

    def __init__(self, config: ProcessConfig) -> None:
        if sys.platform != "linux":
            raise Unavailable("cells_unavailable", "Cells need Linux: run Labcrew in its container here.")
        self._config = config
        self._slots = asyncio.Semaphore(config.max_cells)
        self._link: ZygoteLink | None = None
        self._launch: asyncio.Task[ZygoteLink] | None = None
        self._scratch = Scratch(config.home / "scratch")

    @property
    def scratch(self) -> Path:
        return self._scratch.path

    async def start(self) -> None:
        """Start the zygote now rather than at the first request."""
        await asyncio.to_thread(sweep, self._config.home / "scratch")
        await self._zygote()

    async def run(self, request: CellRequest, on_progress: Progress | None = None) -> Outcome:
        async with self._slots:
            link = await self._zygote()
            return await _run(link, request, on_progress)

    async def close(self) -> None:
        """End the zygote with all its cells, and remove the scratch folder."""
        if self._link:
            await self._link.close()
        await asyncio.to_thread(self._scratch.close)

    async def _zygote(self) -> ZygoteLink:
        """The running zygote; a new one when there is none. Who stops waiting does not stop the launch."""
        if self._launch is None:
            self._link = ZygoteLink(self._config.home / "cache", self._config.tier, self._forget)
            self._launch = asyncio.create_task(_launched(self._link))
        return await asyncio.shield(self._launch)

    def _forget(self) -> None:
        self._link = self._launch = None


async def _launched(link: ZygoteLink) -> ZygoteLink:
    await link.start()
    return link


async def _run(link: ZygoteLink, request: CellRequest, on_progress: Progress | None) -> Outcome:
    pipes = CellPipes(request.limits, on_progress)
    try:
        ending = await link.run(request, pipes)
    finally:
        pipes.finish()
    if ending is None:
        return replace(_ZYGOTE_DIED, stdout=pipes.stdout.text, stderr=pipes.stderr.text)
    outcome = judge(ending, bytes(pipes.report.data), request.limits)
    content = await asyncio.to_thread(_gather, ending.folder, request)
    if content.exceeds(request.limits.disk_bytes):
        outcome = Outcome(End.OUT_OF_DISK, outcome.usage)
    return replace(outcome, stdout=pipes.stdout.text, stderr=pipes.stderr.text, files=content.files)


_ZYGOTE_DIED = Outcome(
    End.DIED,
    Usage(0.0, 0.0, 0),
    fault=Fault("cells_restarted", "The process that computes was restarted: try again."),
)


def _gather(folder: int | None, request: CellRequest) -> Content:
    """What the cell left in `request.output`, brought there from its own filesystem if it had one."""
    if folder is None:
        return survey(request.output)
    source = Path(f"/proc/self/fd/{folder}")
    try:
        content = survey(source)
        if not content.exceeds(request.limits.disk_bytes):
            copy_out(source, request.output, content.files)
        return content
    finally:
        os.close(folder)
