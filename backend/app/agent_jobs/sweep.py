"""The sweep of open jobs: every worker begins, answers and delivers those that are due."""

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

from app.agent_jobs.answer import JobAnswer
from app.agent_jobs.config import QueueConfig
from app.agent_jobs.queue import JobQueue, JobsOf
from app.agent_jobs.service import CLAIM_JOBS, JobRecord
from app.agent_jobs.statements import JOBS
from app.db.pool import Database, is_away
from app.jobs import REDIS_AWAY

log = logging.getLogger(__name__)

MAX_CLAIMED = 100
"""Jobs of one look: they are done one after the other."""


@dataclass(frozen=True)
class JobSweep:
    """`queue`: None where no Redis queue is set."""

    db: Database
    config: QueueConfig
    jobs_of: JobsOf
    queue: JobQueue | None = None
    new_job: asyncio.Event = field(default_factory=asyncio.Event)

    def background(self) -> list[Coroutine[Any, Any, None]]:
        """Return the work of a worker, until it is cancelled."""
        return [self.sweep_for_ever(), *([self.queue.listen_for_ever()] if self.queue else [])]

    async def sweep(self) -> int:
        """Do what is due for open jobs. Return the number of those that were looked at."""
        rows = [dict(row) for row in await self.db.rows(CLAIM_JOBS, MAX_CLAIMED, self.config.claim_s)]
        for row in rows:
            is_queued = row.pop("is_queued")
            record = JobRecord(**row)
            try:
                answer = await self.jobs_of(record.owner_id).advance(record)
                if answer is not None and is_queued:
                    await self._deliver(record, answer)
            # The job stays undelivered, and is looked at again when this claim has run out.
            except REDIS_AWAY:
                log.warning("an answer of a job waits for Redis", extra={"job": record.job_id})
            except Exception as error:
                if is_away(error):
                    raise
                # A job that cannot be answered must not hold those that were claimed with it, time and again.
                log.exception("a job could not be advanced", extra={"job": record.job_id})
        return len(rows)

    async def _deliver(self, record: JobRecord, answer: JobAnswer) -> None:
        if self.queue is not None:
            await self.queue.publish(answer)
            await self.db.value(JOBS.mark_delivered, record.id)

    async def sweep_for_ever(self) -> None:
        """Sweep until cancelled: often while there are open jobs. A failed pass is logged."""
        while True:
            try:
                await self.sweep()
                has_open_jobs = await self.db.value(JOBS.has_open_jobs)
            except Exception:
                log.warning("a sweep of jobs failed", exc_info=True)
                has_open_jobs = False
            if has_open_jobs:
                await asyncio.sleep(self.config.busy_pause_s)
                continue
            self.new_job.clear()
            try:
                async with asyncio.timeout(self.config.idle_pause_s):
                    await self.new_job.wait()
            except TimeoutError:
                continue
