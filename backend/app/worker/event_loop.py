"""The event loop of a worker process, in a thread of its own, and the services that run on it.

Celery's pool threads pass jobs to the loop and wait. The loop starts before the first job, since the sweeper
must run without one. The pool consists of threads, so that no process is forked after the loop has started.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import uvloop
from redis.asyncio import Redis

from app import jobs
from app.agent_jobs.sweep import JobSweep
from app.auth.cpu_charges import CpuCharges
from app.auth.rate_limits import RateLimiter
from app.db.pool import Database
from app.deletion.background import RetentionWorker
from app.deletion.retention_periods import DAY_S
from app.jobs import QUEUES, REDIS_AWAY, Job, SendJob
from app.resources import Resources
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
from app.worker.agent_jobs import make_job_sweep
from app.workflows.triggers.sweep import TriggerSweep, sweep_triggers_for_ever

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class WorkerServices:
    """The services of a worker process, opened on its event loop."""

    runner: Runner
    fits: Fits
    db: Database
    redis: "Redis"
    send: SendJob
    config: SessionsConfig
    retention_worker: RetentionWorker
    heartbeat: WorkerHeartbeat
    job_sweep: JobSweep | None = None

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
            publisher=tail,
            send_job=send,
            config=config,
            charge=charge,
        )
        fits = Fits(db, resources.computer, tail, send, config, charge)
        home, store = resources.settings.home, resources.settings.artifact_storage_path
        retention_worker = RetentionWorker(db, resources.redis, tail, send, resources.blobs, keep, home, store)
        heartbeat = WorkerHeartbeat(db, graphs.supported_versions, queues, fit_slots)
        sweep = make_job_sweep(resources)
        return cls(runner, fits, db, resources.redis, send, config, retention_worker, heartbeat, sweep)


_CLOSE_S = 30.0
"""Time for a stopping worker to hand back its leases after its steps have ended. Long, for a busy machine; with
`SessionsConfig.drain_s` it stays within the 45 s after which containers are killed."""


OpenServices = Callable[[], AbstractAsyncContextManager[WorkerServices]]
"""Opens the services of a process on its running loop."""


class WorkerLoop:
    """The loop of a process. `start` returns when it is ready for jobs, or raises what prevents it."""

    def __init__(self, open_services: OpenServices) -> None:
        self._open = open_services
        self._loop = uvloop.new_event_loop()
        # A daemon, so that a loop that hangs does not keep the process from ending.
        self._thread = threading.Thread(target=self._run, name="labcrew-loop", daemon=True)
        self._ready: Future[WorkerServices] = Future()
        self._stop = asyncio.Event()
        self._draining = False
        self._rejected_jobs: list[Job] = []

    def start(self) -> None:
        self._thread.start()
        self._ready.result()

    def advance(self, session_id: UUID) -> None:
        """Drive a session; blocks its pool thread until the drive is over."""
        self._submit(jobs.advance_job(session_id), lambda services: services.runner.advance(session_id))

    def fit(self, key: FitKey) -> None:
        self._submit(jobs.fit_job(*key.key_columns), lambda services: services.fits.run(key))

    def drain(self) -> None:
        """Claim no more; let running steps finish, or stop them. Safe to call from a signal handler."""
        # First: jobs that arrive while the services are told are rejected already.
        self._draining = True
        services = self._ready.result()
        self._loop.call_soon_threadsafe(lambda: self._loop.create_task(_drain(services)))

    def stop(self) -> None:
        """Close the services and end the loop, after the last job."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(_CLOSE_S)

    def _submit(self, job: Job, work: Callable[[WorkerServices], Coroutine[Any, Any, None]]) -> None:
        """Run a job on the loop and wait for it.

        While the process drains, jobs are rejected: they are queued again once it takes no more.
        """
        if self._draining:
            self._rejected_jobs.append(job)
        else:
            asyncio.run_coroutine_threadsafe(work(self._ready.result()), self._loop).result()

    def _run(self) -> None:
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
            services = await stack.enter_async_context(self._open())
            background = [
                asyncio.create_task(
                    sweep_for_ever(services.db, services.send, services.config), name="sweeper"
                ),
                asyncio.create_task(
                    sweep_triggers_for_ever(TriggerSweep(services.db, services.send, services.config)),
                    name="triggers",
                ),
                asyncio.create_task(_listen_for_ever(services), name="control"),
                asyncio.create_task(services.heartbeat.beat_for_ever(), name="heartbeat"),
                asyncio.create_task(services.retention_worker.run_deletions(), name="deletions"),
                asyncio.create_task(services.retention_worker.run_retention(), name="retention"),
            ]
            if services.job_sweep is not None:
                background += [
                    asyncio.create_task(work, name="jobs") for work in services.job_sweep.background()
                ]
            self._ready.set_result(services)
            await self._stop.wait()
            await cancel_and_wait(*background)
            for job in self._rejected_jobs:
                services.send(job)


async def _drain(services: WorkerServices) -> None:
    await asyncio.gather(services.runner.drain(), services.fits.drain())


async def _listen_for_ever(services: WorkerServices) -> None:
    """React to announced cancellations. While Redis is away the next renewal of a lease finds them."""
    every_rechecks = (services.runner.rechecks, services.fits.rechecks)
    while True:
        try:
            async with services.redis.pubsub() as pubsub:
                await pubsub.subscribe(CONTROL_CHANNEL)
                async for message in pubsub.listen():
                    for rechecks in every_rechecks:
                        if message["type"] == "subscribe":
                            rechecks.announce_all()  # what was announced before reached nobody here
                        elif message["type"] == "message":
                            for line in _decode(message["data"]).splitlines():
                                rechecks.announce(UUID(line))
        except (*REDIS_AWAY, ValueError):
            await asyncio.sleep(0.3)


def _decode(data: bytes | str) -> str:
    return data.decode() if isinstance(data, bytes) else data
