"""Provider of cells: forks of a zygote, which is a process of this host or runs in a container."""

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path

from app.errors import Unavailable
from app.observability.metrics.cells import CELLS_WAITING, ZYGOTES, SandboxRun, count_computation
from app.observability.tracing import span_inside
from app.sandbox.exchange.contract import CellRequest, Computation, Isolation, Outcome, Progress
from app.sandbox.outputs.scratch_folders import Scratch, sweep
from app.sandbox.provider.process_config import ProcessConfig
from app.sandbox.provider.ready_zygote import ReadyZygote, start_zygote
from app.sandbox.provider.warm_cells import WarmCells
from app.sandbox.provider.zygote_connection import MAX_START_S, ZygoteLink
from app.sandbox.provider.zygote_container import start_own_container
from app.sandbox.provider.zygote_launch import RETRY_S, connect_shared_zygote, start_own_zygote

SOCKET_FOLDER = ".door"


def _metric_name(request: CellRequest) -> str:
    """Return the label of a request in metrics and spans: its function, or `program`."""
    return request.work.function if isinstance(request.work, Computation) else "program"


class ProcessProvider:
    """Provider for one event loop.

    Callers make their output folders in `scratch`; the next process removes it if this one is killed.
    """

    def __init__(self, config: ProcessConfig) -> None:
        if sys.platform != "linux":
            raise Unavailable("cells_unavailable", "Cells need Linux: run Labcrew in its container here.")
        self._config = config
        self._slots = asyncio.Semaphore(config.max_cells)
        self._link: ZygoteLink | None = None
        self._launch: asyncio.Task[ReadyZygote] | None = None
        self._scratch = Scratch(config.scratch)
        self._warm_cells = WarmCells(self._scratch.path, config.max_warm_cells, config.max_idle_s)
        if config.container:
            self.scratch.chmod(0o711)  # the container's user passes through to its own folders

    @property
    def name(self) -> str:
        return "docker" if self._config.container else "process"

    @property
    def scratch(self) -> Path:
        return self._scratch.path

    async def start(self) -> None:
        """Start the zygote now rather than at the first request."""
        await asyncio.to_thread(self._sweep)
        await self._zygote()

    async def run(self, request: CellRequest, on_progress: Progress | None = None) -> Outcome:
        async with self._slot():
            name = _metric_name(request)
            run = self._describe_run(request)
            with count_computation(name, run) as ending, span_inside("run_cell", name) as set_attributes:
                outcome = await self._run(request, on_progress)
                used = outcome.usage
                ending.end, ending.wall_s, ending.cpu_s = outcome.end, used.wall_s, used.cpu_s
                set_attributes({"labcrew.end": outcome.end, "labcrew.cpu_s": used.cpu_s})
                return outcome

    def _describe_run(self, request: CellRequest) -> SandboxRun | None:
        mode = request.work.query_mode if isinstance(request.work, Computation) else "python"
        return SandboxRun(self.name, mode) if mode else None

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[None]:
        with CELLS_WAITING.track_inprogress():
            await self._slots.acquire()
        try:
            yield
        finally:
            self._slots.release()

    async def _run(self, request: CellRequest, on_progress: Progress | None) -> Outcome:
        while True:
            zygote = await self._zygote()
            isolation = zygote.isolation
            if refusal := isolation.halt or (None if request.trusted else isolation.refusal):
                raise Unavailable("cells_not_isolated", refusal, **asdict(isolation))
            if not isinstance(request.work, Computation) or request.work.warm_for is None:
                return await zygote.run(request, on_progress)
            # None: the warm cell broke, and the request is tried once more in a new one.
            if outcome := await self._warm_cells.run(zygote, request.work, request, on_progress):
                return outcome

    def isolation_now(self) -> Isolation | None:
        """Return `isolation` without waiting; None while the zygote starts, begun here if needed."""
        launch = self._ensure_launched()
        failed = launch.done() and (launch.cancelled() or launch.exception())
        return launch.result().isolation if launch.done() and not failed else None

    async def isolation(self) -> Isolation:
        """Return the isolation that cells have here; starts the zygote if needed."""
        return (await self._zygote()).isolation

    async def close(self) -> None:
        """End the zygote with all its cells, and remove the scratch folder."""
        if self._launch:
            self._launch.cancel()
        # Before the link that they run over.
        await self._warm_cells.close()
        if self._link:
            await self._link.close()
        await asyncio.to_thread(self._scratch.close)

    async def _zygote(self) -> ReadyZygote:
        """Return the running zygote; start one if there is none.

        The launch is shared: a caller that is cancelled does not stop it.
        """
        return await asyncio.shield(self._ensure_launched())

    def _ensure_launched(self) -> asyncio.Task[ReadyZygote]:
        if self._launch is None:
            self._launch = asyncio.create_task(self._open_zygote())
            self._launch.add_done_callback(self._forget_failure)
        return self._launch

    async def _open_zygote(self) -> ReadyZygote:
        """Start a zygote, or connect to the host's, with retries while that one is being replaced.

        Raises Unavailable.
        """
        give_up_at = time.monotonic() + MAX_START_S
        while True:
            self._link = ZygoteLink(self._connect, self._forget)
            try:
                zygote = await start_zygote(
                    self._link, self.scratch, self._config.container, self._config.allow_unisolated
                )
            except Unavailable:
                if not self._config.socket or time.monotonic() > give_up_at:
                    raise
                await asyncio.sleep(RETRY_S)
            else:
                ZYGOTES.inc()
                return zygote

    async def _connect(self) -> tuple[socket.socket, subprocess.Popen[bytes] | None]:
        if self._config.socket:
            return await connect_shared_zygote(self._config.socket)
        if self._config.container:
            return await start_own_container(self._config.container, self.scratch / SOCKET_FOLDER)
        return await start_own_zygote(self._config.home / "cache", self._config.tier)

    def _sweep(self) -> None:
        sweep(self._config.scratch)
        if self._config.container:
            self._config.container.remove_leftovers()

    def _forget(self) -> None:
        # A launch that still runs learns of the end by itself, and may try again.
        if self._launch and self._launch.done():
            self._link = self._launch = None

    def _forget_failure(self, launch: asyncio.Task[ReadyZygote]) -> None:
        if launch.cancelled() or launch.exception():
            self._link = self._launch = None
