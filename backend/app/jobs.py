"""Background jobs: their names and queues, the outbox that is sent after commit, and the sender.

A job is only a wake-up. Losing it or receiving it twice changes nothing, because the claim is a row and the
sweeper queues lost jobs again.
"""

import asyncio
import json
import time
from base64 import b64encode
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from uuid import UUID, uuid4

from redis.asyncio import Redis
from redis.exceptions import RedisError

# AttributeError: a connection loses its writer while another task reconnects it. RuntimeError: uvloop raises it
# for a closed transport.
REDIS_AWAY = (RedisError, OSError, TimeoutError, AttributeError, RuntimeError)


class JobName(StrEnum):
    ADVANCE = "labcrew.advance"
    FIT = "labcrew.fit"


QUEUES: dict[JobName, str] = {JobName.ADVANCE: "steps", JobName.FIT: "compute"}


@dataclass(frozen=True)
class Job:
    """A wake-up. `args`: ids, never data."""

    name: JobName
    args: tuple[str | int, ...]


def advance_job(session_id: UUID) -> Job:
    return Job(JobName.ADVANCE, (str(session_id),))


def fit_job(session_id: UUID, round_key: str, candidate: int) -> Job:
    return Job(JobName.FIT, (str(session_id), round_key, candidate))


SendJob = Callable[[Job], None]
"""Queues one job. Never raises: the sweeper queues again what was lost."""


@dataclass
class Outbox:
    """Jobs of an open transaction: sent after its commit, dropped on rollback."""

    jobs: list[Job] = field(default_factory=list)

    def add(self, job: Job) -> None:
        self.jobs.append(job)

    def drain(self) -> list[Job]:
        jobs, self.jobs = self.jobs, []
        return jobs


QUEUED_AT = "queued_at"
"""Header of a message: Unix time at which it was queued."""


def read_queued_at(message: bytes) -> float | None:
    """Read the Unix time at which a message was queued. None without the header."""
    queued_at = json.loads(message)["headers"].get(QUEUED_AT)
    return None if queued_at is None else float(queued_at)


def encode_message(job: Job) -> str:
    """Encode a job as Celery's Redis transport stores it in a queue (task message protocol 2).

    Celery's own client would load Celery and kombu into processes that only queue jobs, and would block the
    event loop for what is one Redis command here.
    """
    job_id = str(uuid4())
    body = json.dumps([job.args, {}, {"callbacks": None, "errbacks": None, "chain": None, "chord": None}])
    headers = {
        "lang": "py",
        "task": job.name,
        "id": job_id,
        "root_id": job_id,
        "parent_id": None,
        "group": None,
    }
    envelope: dict[str, Any] = {
        "body": b64encode(body.encode()).decode(),
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": {**headers, "ignore_result": True, QUEUED_AT: time.time()},
        "properties": {
            "correlation_id": job_id,
            "delivery_mode": 2,
            "delivery_info": {"exchange": "", "routing_key": QUEUES[job.name]},
            "priority": 0,
            "body_encoding": "base64",
            "delivery_tag": str(uuid4()),
        },
    }
    return json.dumps(envelope)


@dataclass
class JobSender:
    """Queues jobs in the background of one event loop. While Redis is away the sweeper queues them later.

    `on_drop`: called with the number of jobs that were dropped.
    """

    redis: "Redis"
    on_drop: Callable[[int], object] = lambda count: None
    _waiting: deque[Job] = field(default_factory=deque)
    _task: "asyncio.Task[None] | None" = None

    def __call__(self, job: Job) -> None:
        self._waiting.append(job)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._flush(), name="jobs")

    async def close(self) -> None:
        if self._task:
            await self._task

    async def _flush(self) -> None:
        while self._waiting:
            jobs = [self._waiting.popleft() for _ in range(len(self._waiting))]
            # No transaction: half of the wake-ups is better than none.
            pipeline = self.redis.pipeline(transaction=False)
            for job in jobs:
                pipeline.lpush(QUEUES[job.name], encode_message(job))
            try:
                await pipeline.execute()
            except REDIS_AWAY:
                # Not kept for later: the sweeper finds the rows, and a list here could only grow.
                self.on_drop(len(jobs))
