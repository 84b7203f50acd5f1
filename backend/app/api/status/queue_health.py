"""Health of the service for clients of its queue: Redis, workers, jobs that wait, and the chat model."""

import asyncio
from collections.abc import Awaitable
from typing import Literal, cast

from pydantic import BaseModel, Field

from app.agent_jobs.queue import QUEUE
from app.agent_jobs.statements import JOBS
from app.api.status import readiness
from app.db.pool import is_away
from app.jobs import QUEUES, REDIS_AWAY, JobName
from app.llm.config import OFFLINE
from app.resources import Resources
from app.sessions.workers import count_live_workers


class QueueHealth(BaseModel):
    """`limited`: nothing works on jobs now, or the chat model cannot be used."""

    status: Literal["ok", "limited"]
    redis: Literal["ok", "unavailable"]
    workers: int | None = Field(
        description="Workers that answer jobs and were seen lately; null while Postgres is away."
    )
    queue_depth: int | None = Field(
        description="Jobs that wait for an answer, in the queue and taken from it; null if that cannot be read."
    )
    llm: Literal["ok", "unavailable", "offline"] = Field(description="`offline`: rules, without a chat model.")


async def read_queue_health(resources: Resources) -> QueueHealth:
    report = await readiness.check_readiness(resources)
    live_workers = await _read(_count_workers(resources))
    is_offline = set(resources.settings.chat.all_models) == {OFFLINE}
    fine_llm: Literal["ok", "offline"] = "offline" if is_offline else "ok"
    return QueueHealth(
        status="limited" if report.unavailable or report.is_limited else "ok",
        redis="unavailable" if "redis" in report.unavailable else "ok",
        workers=live_workers,
        queue_depth=await _read(_count_open_jobs(resources)),
        llm="unavailable" if "chat_model" in report.degraded else fine_llm,
    )


async def _count_workers(resources: Resources) -> int:
    # Of the queue that answers jobs; others fit models.
    return (await count_live_workers(resources.database))[QUEUES[JobName.ADVANCE]]


async def _count_open_jobs(resources: Resources) -> int:
    open_jobs = int(cast(int, await resources.database.value(JOBS.count_open_jobs)))
    if resources.job_queue is None:
        return open_jobs
    return open_jobs + await resources.job_queue.llen(QUEUE)


async def _read(count: Awaitable[int]) -> int | None:
    """Return a count, None while Postgres or Redis does not answer."""
    try:
        async with asyncio.timeout(readiness.PROBE_TIMEOUT_S):
            return await count
    except (*REDIS_AWAY, TimeoutError):
        return None
    except Exception as error:
        if is_away(error):
            return None
        raise
