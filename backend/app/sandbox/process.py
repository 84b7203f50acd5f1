"""The provider: cells are forks of a zygote, which is a process of this host or runs in a container."""

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Coroutine
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from app.errors import Unavailable
from app.sandbox.container import Container, own_container
from app.sandbox.contract import (
    CellRequest,
    Computation,
    End,
    Fault,
    Isolation,
    Limits,
    Outcome,
    Progress,
    Usage,
)
from app.sandbox.folders import Content, copy_out, remove, survey
from app.sandbox.launch import RETRY_S, own_zygote, shared_zygote
from app.sandbox.link import START_LIMIT_S, ZygoteLink
from app.sandbox.pipes import CellPipes
from app.sandbox.scratch import LOCK, Scratch, sweep
from app.sandbox.verdict import judge

T = TypeVar("T")
DOOR = ".door"


@dataclass(frozen=True)
class ProcessConfig:
    """`home`: a folder of ours on a disk with room. `max_cells`: how many compute at once; more wait.

    `tier`: "best", or the one of `walls.Tier` to use. `socket`: where the host's zygote listens; without it the
    provider starts one of its own, in `container` if that is given.
    """

    home: Path
    max_cells: int = 16
    tier: str = "best"
    socket: Path | None = None
    container: Container | None = None

    @property
    def scratch(self) -> Path:
        return self.home / "scratch"


class ProcessProvider:
    """Serves one event loop. `scratch` is where its callers make output folders: swept if we are killed."""

    def __init__(self, config: ProcessConfig) -> None:
        if sys.platform != "linux":
            raise Unavailable("cells_unavailable", "Cells need Linux: run Labcrew in its container here.")
        self._config = config
        self._slots = asyncio.Semaphore(config.max_cells)
        self._link: ZygoteLink | None = None
        self._launch: asyncio.Task[_Zygote] | None = None
        self._scratch = Scratch(config.scratch)
        if config.container:
            self.scratch.chmod(0o711)  # the container's user passes through to the folders that are its own

    @property
    def scratch(self) -> Path:
        return self._scratch.path

    async def start(self) -> None:
        """Start the zygote now rather than at the first request."""
        await asyncio.to_thread(self._sweep)
        await self._zygote()

    async def run(self, request: CellRequest, on_progress: Progress | None = None) -> Outcome:
        async with self._slots:
            zygote = await self._zygote()
            if not request.trusted and zygote.isolation.refusal:
                raise Unavailable("cells_not_isolated", zygote.isolation.refusal, **asdict(zygote.isolation))
            return await zygote.run(request, on_progress)

    def glance(self) -> Isolation | None:
        """`isolation` without waiting: None while the zygote starts, which this begins if need be."""
        launch = self._begin()
        failed = launch.done() and (launch.cancelled() or launch.exception())
        return launch.result().isolation if launch.done() and not failed else None

    async def isolation(self) -> Isolation:
        """Which walls cells have here; starts the zygote if need be."""
        return (await self._zygote()).isolation

    async def close(self) -> None:
        """End the zygote with all its cells, and remove the scratch folder."""
        if self._launch:
            self._launch.cancel()
        if self._link:
            await self._link.close()
        await asyncio.to_thread(self._scratch.close)

    async def _zygote(self) -> "_Zygote":
        """The running zygote; a new one when there is none. Who stops waiting does not stop the launch."""
        return await asyncio.shield(self._begin())

    def _begin(self) -> "asyncio.Task[_Zygote]":
        if self._launch is None:
            self._launch = asyncio.create_task(self._find_zygote())
            self._launch.add_done_callback(self._forget_failure)
        return self._launch

    async def _find_zygote(self) -> "_Zygote":
        """Start one, or connect to the host's, trying again while that one is being replaced."""
        async with asyncio.timeout(START_LIMIT_S):
            while True:
                self._link = ZygoteLink(self._connect, self._forget)
                try:
                    return await _try_out(self._link, self.scratch, self._config.container)
                except Unavailable:
                    if not self._config.socket:
                        raise
                    await asyncio.sleep(RETRY_S)

    async def _connect(self) -> tuple[socket.socket, subprocess.Popen[bytes] | None]:
        if self._config.socket:
            return await shared_zygote(self._config.socket)
        if self._config.container:
            return await own_container(self._config.container, self.scratch / DOOR)
        return await own_zygote(self._config.home / "cache", self._config.tier)

    def _sweep(self) -> None:
        sweep(self._config.scratch)
        if self._config.container:
            self._config.container.remove_leftovers()

    def _forget(self) -> None:
        if self._launch and self._launch.done():
            self._link = self._launch = None

    def _forget_failure(self, launch: asyncio.Task["_Zygote"]) -> None:
        if launch.cancelled() or launch.exception():
            self._link = self._launch = None


@dataclass(frozen=True)
class _Zygote:
    """`container`: the one that it runs in, if it does."""

    link: ZygoteLink
    scratch: Path
    container: Container | None
    isolation: Isolation = field(default_factory=lambda: Isolation("none"))

    async def run(self, request: CellRequest, on_progress: Progress | None = None) -> Outcome:
        if self.container is None:
            return await _run(self.link, request, on_progress)
        lent = Path(tempfile.mkdtemp(prefix="lent-", dir=self.scratch))
        try:
            request = await _to_the_end(asyncio.to_thread(self.container.bring_within_reach, request, lent))
            return await _run(self.link, request, on_progress)
        finally:
            await _to_the_end(asyncio.to_thread(remove, lent))


async def _try_out(link: ZygoteLink, scratch: Path, container: Container | None) -> _Zygote:
    """Start a zygote, and let a canary try the walls before anything untrusted does."""
    facts = await link.start()
    tier, missing = facts["tier"], facts["missing"]
    zygote = _Zygote(link, scratch, container)
    refusal = "This host's kernel lacks the walls that untrusted work needs (Landlock and seccomp)."
    return replace(
        zygote, isolation=Isolation(tier, refusal if tier == "none" else await _canary(zygote), missing)
    )


async def _canary(zygote: _Zygote) -> str | None:
    """Why untrusted work must not run here; None if the canary got nowhere."""
    output = Path(tempfile.mkdtemp(prefix="canary-", dir=zygote.scratch))
    work = Computation("canary.escape", {"path": str(zygote.scratch / LOCK)}, trusted=False)
    outcome = await zygote.run(CellRequest(work, {}, output, Limits(time_s=20)))
    await asyncio.to_thread(remove, output)
    if outcome.end is not End.RETURNED:
        return f"The walls could not be tried: {outcome.fault.detail if outcome.fault else outcome.end}"
    return f"The walls do not hold: a cell could {outcome.value}." if outcome.value else None


async def _run(link: ZygoteLink, request: CellRequest, on_progress: Progress | None) -> Outcome:
    pipes = CellPipes(request.limits, on_progress)
    try:
        ending = await link.run(request, pipes)
    finally:
        pipes.finish()
    if ending is None:
        return replace(_ZYGOTE_DIED, stdout=pipes.stdout.text, stderr=pipes.stderr.text)
    outcome = judge(ending, bytes(pipes.report.data), request.limits)
    content = await _to_the_end(asyncio.to_thread(_gather, ending.folder, request))
    if content.exceeds(request.limits.disk_bytes):
        outcome = Outcome(End.OUT_OF_DISK, outcome.usage)
    return replace(outcome, stdout=pipes.stdout.text, stderr=pipes.stderr.text, files=content.files)


_ZYGOTE_DIED = Outcome(
    End.DIED,
    Usage(0.0, 0.0, 0),
    fault=Fault("cells_restarted", "The process that computes was restarted: try again."),
)


async def _to_the_end(work: Coroutine[None, None, T]) -> T:
    """A cancellation meanwhile rises when the thread has ended: its folder is removed next."""
    working = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait([working])
        raise


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
