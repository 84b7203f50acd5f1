"""Consumers of the queue that kill themselves at a place; a module to run.

It imports once, and forks a consumer for each line of its input: the place, or -1 for none. It answers with
`killed`, or with `done` when every job is answered and nothing is held.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline

from app.agent_jobs.config import QueueConfig
from app.agent_jobs.queue import IN_PROGRESS, QUEUE, JobQueue
from app.agent_jobs.service import JobService
from app.agent_jobs.statements import JOBS
from app.agent_jobs.sweep import JobSweep
from app.db.pool import Database, Record
from app.jobs import REDIS_AWAY
from app.sessions.config import SessionsConfig
from app.sessions.events.publisher import EventPublisher
from app.sessions.schemas import JOB_GRAPH
from app.sessions.service import SessionService
from app.sessions.statements import LIFECYCLE

IDLE_COMMANDS = frozenset({"ZADD", "ZRANGEBYSCORE", "ZREMRANGEBYSCORE", "LRANGE"})
"""Commands that come with the clock: their number differs from run to run."""
STATEMENTS = frozenset(
    {
        JOBS.create_job,
        JOBS.repeat_job,
        JOBS.find_account,
        JOBS.save_answer,
        JOBS.mark_delivered,
        LIFECYCLE.create,
    }
)
"""Statements that change rows, and the first of a message."""


class Places:
    """Counts the places before and after each command and statement; kills this process at one of them."""

    def __init__(self, place: int) -> None:
        self.place, self.count = place, 0

    async def pass_by(self) -> None:
        if self.count == self.place:
            os.kill(os.getpid(), signal.SIGKILL)
        self.count += 1


class StruckPipeline(Pipeline):
    places: Places

    async def execute(self, raise_on_error: bool = True) -> list[Any]:
        await self.places.pass_by()
        answers = await super().execute(raise_on_error)
        await self.places.pass_by()
        return answers


class StruckRedis(Redis):
    places: Places

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        if args[0] in IDLE_COMMANDS:
            return await super().execute_command(*args, **options)
        is_look = args[0] in ("BLMOVE", "LMOVE")  # which comes with the clock, unless there is a message
        if not is_look:
            await self.places.pass_by()
        answer = await super().execute_command(*args, **options)
        if not is_look or answer is not None:
            await self.places.pass_by()
        return answer

    def pipeline(self, transaction: bool = True, shard_hint: str | None = None) -> Pipeline:
        pipeline = StruckPipeline(self.connection_pool, self.response_callbacks, transaction, shard_hint)
        pipeline.places = self.places
        return pipeline


class StruckDatabase(Database):
    places: Places

    async def row(self, sql: str, *args: Any) -> Record | None:
        if sql not in STATEMENTS:
            return await super().row(sql, *args)
        await self.places.pass_by()
        row = await super().row(sql, *args)
        await self.places.pass_by()
        return row


async def consume(settings: Mapping[str, Any], place: int) -> None:
    """Listen and sweep until every job is answered and delivered, and nothing is held."""
    places = Places(place)
    redis: StruckRedis = StruckRedis.from_url(settings["redis_url"])
    db = await StruckDatabase.open(settings["database_url"])
    redis.places = db.places = places
    config = QueueConfig(
        settings["redis_url"], settings["owners"], listener_s=0.1, claim_s=0.1, idle_pause_s=0.05
    )
    sessions = SessionService(db, EventPublisher(redis), lambda job: None, SessionsConfig(), JOB_GRAPH)

    def jobs_of(owner: UUID) -> JobService:
        return JobService(db, sessions, owner)

    queue = JobQueue(redis, db, config, jobs_of)
    tasks = [asyncio.create_task(work) for work in JobSweep(db, config, jobs_of, queue).background()]
    async with Redis.from_url(settings["redis_url"]) as looking:
        while not await _is_done(looking, db, settings["jobs"]):  # noqa: ASYNC110 - others do what it waits for
            await asyncio.sleep(0.02)
    for task in tasks:
        task.cancel()


async def _is_done(redis: "Redis", db: Database, jobs: int) -> bool:
    delivered = "select count(*) from agent_jobs where delivered_at is not null"
    try:
        in_progress = [key async for key in redis.scan_iter(match=f"{IN_PROGRESS}*")] or await redis.llen(QUEUE)  # type: ignore[misc]
    except REDIS_AWAY:
        return False
    return not in_progress and int(await db.value(delivered)) == jobs


def main() -> None:
    settings = json.loads(sys.stdin.readline())
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            asyncio.run(consume({**settings, **order}, order["place"]))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        sys.stdout.write("killed\n" if os.WIFSIGNALED(status) else "done\n" if status == 0 else "failed\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
