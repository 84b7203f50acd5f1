"""A worker process: Celery's consumer and thread pool in front of our event loop."""

import asyncio
import gc
import logging
import os
import socket
import warnings
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from typing import Any
from uuid import UUID

from celery import Celery
from celery.platforms import SecurityWarning
from celery.signals import setup_logging, worker_ready, worker_shutting_down

from app.errors import LabError, Unavailable
from app.jobs import JobName
from app.observability.metrics.exposition import exposition
from app.observability.metrics.listener import serve_metrics
from app.resources import Resources, open_resources
from app.sandbox.contract import CellProvider
from app.sessions.graphs import Graphs
from app.sessions.waiting.fits import FitKey
from app.settings import Settings
from app.tasks import cancel_and_wait
from app.worker.celery_app import make_celery
from app.worker.graphs import pipeline_graphs
from app.worker.loop import WorkerLoop, WorkerServices

log = logging.getLogger(__name__)

_MAX_DRIVES = 16

MakeGraphs = Callable[[Resources], Graphs]


def run(
    settings: Settings,
    queues: Sequence[str] = ("steps", "compute"),
    threads: int | None = None,
    figures_at: socket.socket | None = None,
) -> None:
    """Work until SIGTERM or SIGINT; then claim nothing more, end running steps and return.

    `threads`: how many jobs run at once. Drives of the `steps` queue mostly wait; a fit of the `compute` queue
    uses a core, so that queue is best given processes of its own, by default with one thread a core.
    `figures_at`: a listening socket to show figures on, if anybody wants them.
    """
    most = (os.cpu_count() or 1) if list(queues) == ["compute"] else _MAX_DRIVES
    serve(settings, queues, threads or most, pipeline_graphs, warm_cells=True, figures_at=figures_at)


def serve(
    settings: Settings,
    queues: Sequence[str],
    threads: int,
    make_graphs: MakeGraphs,
    warm_cells: bool = False,
    figures_at: socket.socket | None = None,
) -> None:
    """`run` for any graphs. `warm_cells`: have cells ready before the first session asks for one."""
    if settings.redis_address is None:
        raise Unavailable("address_missing", "REDIS_URL must be set; `labcrew up` sets it.")

    @asynccontextmanager
    async def open_duties() -> AsyncIterator[WorkerServices]:
        async with open_resources(settings, "worker") as resources:
            warming = asyncio.create_task(_warm(resources.cells), name="cells") if warm_cells else None
            try:
                with _shown(figures_at, resources):
                    yield WorkerServices.assemble(
                        resources, make_graphs(resources), queues, _fit_slots(queues, threads)
                    )
            finally:
                await cancel_and_wait(warming)

    consume(make_celery(settings.redis_address), queues, threads, WorkerLoop(open_duties))


def _shown(figures_at: socket.socket | None, resources: Resources) -> AbstractContextManager[None]:
    if figures_at is None:
        return nullcontext()
    token = resources.settings.metrics_token
    return serve_metrics(
        figures_at, lambda: exposition((resources.gauges,)), token.get_secret_value() if token else None
    )


def _fit_slots(queues: Sequence[str], threads: int) -> int:
    """Fits that this process computes at a time: each uses a core."""
    return min(threads, os.cpu_count() or 1) if "compute" in queues else 0


async def _warm(cells: CellProvider) -> None:
    try:
        await cells.start()
    except (LabError, OSError):  # whoever needs a cell tries again, and says what is wrong
        log.warning("cells are not ready", exc_info=True)


def consume(app: Celery, queues: Sequence[str], threads: int, loop: WorkerLoop) -> None:
    """Bind the jobs to a loop of ours and consume until told to stop."""

    @app.task(name=JobName.ADVANCE)  # type: ignore[untyped-decorator]  # celery has no types
    def advance(session_id: str) -> None:
        loop.advance(UUID(session_id))

    @app.task(name=JobName.FIT)  # type: ignore[untyped-decorator]  # celery has no types
    def fit(session_id: str, round_key: str, candidate: int) -> None:
        loop.fit(FitKey(UUID(session_id), round_key, candidate))

    def drain(**_: Any) -> None:
        loop.drain()

    def freeze(**_: Any) -> None:
        gc.freeze()  # what was imported stays: looking through it for garbage is a tenth of a drive

    def keep_logging(**_: Any) -> None:
        logging.getLogger("celery").setLevel(logging.WARNING)  # a line for each message says nothing

    setup_logging.connect(keep_logging)  # else Celery sets a level and handlers of its own
    worker_shutting_down.connect(drain)
    worker_ready.connect(freeze)
    # Celery warns of root at each start; a worker runs nobody's code outside of a cell.
    warnings.simplefilter("ignore", SecurityWarning)
    loop.start()
    try:
        app.worker_main(
            [
                "--quiet",
                "worker",
                "--pool=threads",
                f"--concurrency={threads}",
                f"--queues={','.join(queues)}",
                "--without-gossip",
                "--without-mingle",
                "--without-heartbeat",
                "--loglevel=WARNING",
            ]
        )
    finally:
        loop.stop()
