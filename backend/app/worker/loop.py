"""A worker process's event loop, in a thread of its own, and everything that lives on it.

Celery's pool threads only hand their job over and wait. The loop starts before the first job and never lazily,
or the sweeper would sleep until a first message; the pool is of threads, so nothing forks after it.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

import uvloop
from redis.asyncio import Redis

from app import jobs
from app.auth.cpu_charges import CpuCharges
from app.auth.rate_limits import RateLimiter
from app.db.pool import Database
from app.jobs import QUEUES, REDIS_AWAY, Job, SendJob
from app.resources import Resources
from app.retention.background import RetentionWorker
from app.retention.config import DAY_S
from app.sessions.checkpoints import RedisCheckpoints
from app.sessions.config import SessionsConfig
from app.sessions.drive.runner import Runner
from app.sessions.events.publisher import CONTROL_CHANNEL
from app.sessions.graphs import Graphs
from app.sessions.lease import Leases
from app.sessions.sweeper import sweep_for_ever
from app.sessions.waiting.fits import FitKey, Fits
from app.sessions.workers import WorkerHeartbeat
from app.tasks import cancel_and_wait

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class WorkerServices:
    """What a worker process works with, opened on its loop."""

    runner: Runner
    fits: Fits
    db: Database
    redis: "Redis"
    send: SendJob
    config: SessionsConfig
    retention_worker: RetentionWorker
    heartbeat: WorkerHeartbeat

    @classmethod
    def assemble(
        cls,
        resources: Resources,
        graphs: Graphs,
        queues: Sequence[str] = tuple(QUEUES.values()),
        fit_slots: int = 0,
    ) -> "WorkerServices":
        db, tail, send = resources.database, resources.tail, resources.send
        config, keep = resources.settings.sessions, resources.settings.retention
        charge = CpuCharges(db, RateLimiter(resources.redis), resources.settings.quotas.compute)
        runner = Runner(
            db=db,
            leases=Leases(db, config, graphs.supported_versions),
            graphs=graphs,
            checkpoints=RedisCheckpoints(resources.redis, round(keep.checkpoints_days * DAY_S)),
            tail=tail,
            send=send,
            config=config,
            charge=charge,
        )
        fits = Fits(db, resources.computer, tail, send, config, charge)
        home, store = resources.settings.home, resources.settings.artifact_storage_path
        retention_worker = RetentionWorker(db, resources.redis, tail, send, resources.blobs, keep, home, store)
        heartbeat = WorkerHeartbeat(db, graphs.supported_versions, queues, fit_slots)
        return cls(runner, fits, db, resources.redis, send, config, retention_worker, heartbeat)


_CLOSE_S = 30.0
"""For a stopping worker to hand back its leases once its steps have ended: long, for a busy machine, and with
`SessionsConfig.drain_s` within the 45 s after which containers are killed."""


class OpenDuties(Protocol):
    def __call__(self) -> AbstractAsyncContextManager[WorkerServices]: ...


class WorkerLoop:
    """One per process. `start` returns when it is ready for jobs, or raises what kept it from being."""

    def __init__(self, open_duties: OpenDuties) -> None:
        self._open = open_duties
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._live, name="labcrew-loop", daemon=True)
        self._ready: Future[WorkerServices] = Future()
        self._stop = asyncio.Event()
        self._draining = False
        self._turned_away: list[Job] = []

    def start(self) -> None:
        self._thread.start()
        self._ready.result()

    def advance(self, session_id: UUID) -> None:
        """Drive a session; blocks its pool thread until the drive is over."""
        self._do(jobs.advance_job(session_id), lambda duties: duties.runner.advance(session_id))

    def fit(self, key: FitKey) -> None:
        self._do(jobs.fit_job(*key.key_columns), lambda duties: duties.fits.run(key))

    def drain(self) -> None:
        """No new claims; running steps finish or are stopped. Safe to call from a signal's receiver."""
        self._draining = True
        duties = self._ready.result()
        self._loop.call_soon_threadsafe(lambda: self._loop.create_task(_drain(duties)))

    def stop(self) -> None:
        """After the last job: close what was opened, and end the loop."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(_CLOSE_S)

    def _do(self, job: Job, work: Callable[[WorkerServices], Coroutine[Any, Any, None]]) -> None:
        """What was taken from the queue and not begun is queued again, once nobody here takes it any more."""
        if self._draining:
            self._turned_away.append(job)
        else:
            asyncio.run_coroutine_threadsafe(work(self._ready.result()), self._loop).result()

    def _live(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._main())
        except BaseException as error:
            if not self._ready.done():
                self._ready.set_exception(error)
            else:
                log.exception("the worker's event loop ended")

    async def _main(self) -> None:
        async with AsyncExitStack() as stack:
            duties = await stack.enter_async_context(self._open())
            background = [
                asyncio.create_task(sweep_for_ever(duties.db, duties.send, duties.config), name="sweeper"),
                asyncio.create_task(_listen_for_ever(duties), name="control"),
                asyncio.create_task(duties.heartbeat.beat_for_ever(), name="heartbeat"),
                asyncio.create_task(duties.retention_worker.run_deletions(), name="deletions"),
                asyncio.create_task(duties.retention_worker.run_retention(), name="retention"),
            ]
            self._ready.set_result(duties)
            await self._stop.wait()
            await cancel_and_wait(*background)
            for job in self._turned_away:
                duties.send(job)


async def _drain(duties: WorkerServices) -> None:
    await asyncio.gather(duties.runner.drain(), duties.fits.drain())


async def _listen_for_ever(duties: WorkerServices) -> None:
    """Hear of cancels at once; without Redis the next renewal sees them."""
    react: tuple[Callable[[UUID], None], ...] = (duties.runner.cancel, duties.fits.cancel)
    while True:
        try:
            async with duties.redis.pubsub() as control:
                await control.subscribe(CONTROL_CHANNEL)
                async for heard in control.listen():
                    if heard["type"] == "message":
                        for line in _text(heard["data"]).splitlines():
                            for cancel in react:
                                cancel(UUID(line))
        except (*REDIS_AWAY, ValueError):
            await asyncio.sleep(0.3)


def _text(data: bytes | str) -> str:
    return data.decode() if isinstance(data, bytes) else data
