"""A worker process: Celery's consumer and thread pool in front of the event loop."""

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

from app.agents.goals.preloading import load_goal_reader
from app.agents.questions.learned import decoder as question_decoder
from app.errors import LabError, Unavailable
from app.jobs import JobName
from app.observability.metrics.exposition import exposition
from app.observability.metrics.metrics_server import serve_metrics
from app.resources import Resources, open_resources
from app.sandbox.exchange.contract import CellProvider
from app.sessions.graphs import Graphs
from app.sessions.waiting.fits import FitKey
from app.settings import Settings
from app.tasks import cancel_and_wait
from app.worker.celery_app import make_celery
from app.worker.event_loop import WorkerLoop, WorkerServices
from app.worker.graphs import pipeline_graphs

log = logging.getLogger(__name__)

_MAX_DRIVES = 16
"""Drives of one process at the same time. They mostly wait for cells, chat models and Postgres."""

MakeGraphs = Callable[[Resources], Graphs]


def run(
    settings: Settings,
    queues: Sequence[str] = ("steps", "compute"),
    threads: int | None = None,
    figures_at: socket.socket | None = None,
) -> None:
    """Work until SIGTERM or SIGINT, then claim no more, end running steps and return.

    `threads`: jobs that run at the same time. Drives of the `steps` queue mostly wait. A fit of the `compute`
    queue uses a core, so that queue should have processes of its own, by default with one thread per core.
    `figures_at`: a listening socket that serves metrics.
    """
    if settings.short_turns:
        log.warning(settings.short_turns)
    default_threads = (os.cpu_count() or 1) if list(queues) == ["compute"] else _MAX_DRIVES
    serve(settings, queues, threads or default_threads, pipeline_graphs, warm_cells=True, figures_at=figures_at)


def serve(
    settings: Settings,
    queues: Sequence[str],
    threads: int,
    make_graphs: MakeGraphs,
    warm_cells: bool = False,
    figures_at: socket.socket | None = None,
) -> None:
    """Run a worker for any graphs. `warm_cells`: start cells before the first session needs one."""
    if settings.redis_address is None:
        raise Unavailable("address_missing", "REDIS_URL must be set; `labcrew up` sets it.")

    @asynccontextmanager
    async def open_services() -> AsyncIterator[WorkerServices]:
        async with open_resources(settings, "worker") as resources:
            warming = asyncio.create_task(_warm(resources.cells, queues), name="cells") if warm_cells else None
            try:
                with _serve_metrics(figures_at, resources):
                    yield WorkerServices.assemble(
                        resources, make_graphs(resources), queues, _fit_slots(queues, threads)
                    )
            finally:
                await cancel_and_wait(warming)

    consume(make_celery(settings.redis_address), queues, threads, WorkerLoop(open_services))


def _serve_metrics(figures_at: socket.socket | None, resources: Resources) -> AbstractContextManager[None]:
    if figures_at is None:
        return nullcontext()
    token = resources.settings.metrics_token
    return serve_metrics(
        figures_at, lambda: exposition((resources.gauges,)), token.get_secret_value() if token else None
    )


def _fit_slots(queues: Sequence[str], threads: int) -> int:
    """Return the number of fits that this process computes at the same time. Each uses a core."""
    return min(threads, os.cpu_count() or 1) if "compute" in queues else 0


async def _warm(cells: CellProvider, queues: Sequence[str]) -> None:
    """Start the cells, and load meanwhile what goals are read with, by chat models too where they fail."""
    loading = [asyncio.to_thread(_load_readers)] if "steps" in queues else []
    await asyncio.gather(_start_cells(cells), *loading)


def _load_readers() -> None:
    load_goal_reader()
    question_decoder.load()


async def _start_cells(cells: CellProvider) -> None:
    try:
        await cells.start()
    except (LabError, OSError):  # the first session that needs a cell tries again, and reports the error
        log.warning("cells are not ready", exc_info=True)


def consume(app: Celery, queues: Sequence[str], threads: int, loop: WorkerLoop) -> None:
    """Bind the jobs to the loop and consume until the process is stopped."""

    @app.task(name=JobName.ADVANCE)  # type: ignore[untyped-decorator]  # celery has no types
    def advance(session_id: str) -> None:
        loop.advance(UUID(session_id))

    @app.task(name=JobName.FIT)  # type: ignore[untyped-decorator]  # celery has no types
    def fit(session_id: str, round_key: str, candidate: int) -> None:
        loop.fit(FitKey(UUID(session_id), round_key, candidate))

    def drain(**_: Any) -> None:
        loop.drain()

    def freeze(**_: Any) -> None:
        gc.freeze()  # imported modules stay: collecting them takes a tenth of a drive

    def keep_logging(**_: Any) -> None:
        logging.getLogger("celery").setLevel(logging.WARNING)  # its line for each message has no information

    setup_logging.connect(keep_logging)  # otherwise Celery sets a level and handlers of its own
    worker_shutting_down.connect(drain)
    worker_ready.connect(freeze)
    # Celery warns of root at each start, but a worker runs users' code in cells only.
    warnings.simplefilter("ignore", SecurityWarning)
    loop.start()
    try:
        # Not by `worker_main`, which imports all of Celery's command line: 0.1 s of a processor each.
        app.Worker(
            # Two workers of one name would look like one to `celery inspect`.
            hostname=f"{'-'.join(queues)}-{os.getpid()}@{socket.gethostname()}",
            pool_cls="threads",
            concurrency=threads,
            queues=list(queues),
            quiet=True,
            loglevel="WARNING",
            # Workers need not hear of each other: their heartbeats are rows.
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
        ).start()
    finally:
        loop.stop()
