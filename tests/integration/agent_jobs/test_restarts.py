"""A Redis that is restarted, and so emptied, at any command of the queue: no job is lost or done twice."""

import asyncio
import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest
from fastapi import FastAPI
from redis.asyncio import Redis
from tests.patience import hang_guard

from app.agent_jobs.config import QueueConfig
from app.agent_jobs.queue import QUEUE, RESULTS, JobQueue
from app.agent_jobs.service import JobService
from app.agent_jobs.sweep import JobSweep
from app.jobs import REDIS_AWAY
from app.servers.embedded import EmbeddedServers
from app.servers.valkey import Valkey
from app.tasks import cancel_and_wait
from app.worker.agent_jobs import make_job_service

from .consumer import Places, StruckRedis
from .test_kills import (  # noqa: F401 - fixtures
    DOCUMENT,
    NewUser,
    User,
    ada,
    anonymous,
    app,
    new_user,
    services,
    settings,
    worker,
)

pytestmark = pytest.mark.slow
MAX_PLACES = 60
"""Places of a job: it has about a dozen commands, each with a place before and behind it."""


@pytest.fixture
def valkey() -> Iterator[Valkey]:
    """A server of this test's own, since it is emptied."""
    with tempfile.TemporaryDirectory(prefix="labcrew-queue-") as folder:
        servers = EmbeddedServers(Path(folder))
        servers.start_valkey()
        yield servers.prepare_valkey()
        servers.stop()


class Restarts(Places):
    """Restarts the server at one place."""

    def __init__(self, place: int, restart: Callable[[], None]) -> None:
        super().__init__(place)
        self.restart = restart
        self.restarting: asyncio.Task[None] | None = None

    async def pass_by(self) -> None:
        self.count += 1
        if self.count == self.place + 1:
            self.restarting = asyncio.create_task(asyncio.to_thread(self.restart))
            await asyncio.shield(self.restarting)

    async def finish(self) -> None:
        """Wait for a restart that still runs: the next one must not meet it."""
        if self.restarting:
            await self.restarting


@dataclass(frozen=True)
class Sender:
    """A sender that repeats its message until it is answered."""

    redis: "Redis"

    async def send(self, number: int) -> list[str]:
        message = {"version": "1.0", "job_id": f"job-{number}", "workflow_owner": "me", "workflow_tag": "Best"}
        text = json.dumps({**message, "prompt": f"change the limit to {number + 1}", "save": True})
        key = f"{RESULTS}job-{number}"
        async with hang_guard():
            while True:
                try:
                    if answers := await self.redis.lrange(key, 0, -1):  # type: ignore[misc]
                        return [answer.decode() for answer in answers]
                    if not await self.redis.llen(QUEUE):  # type: ignore[misc]
                        await self.redis.lpush(QUEUE, text)  # type: ignore[misc]
                except REDIS_AWAY:
                    pass  # it is being restarted
                await asyncio.sleep(0.02)


async def consume(app: FastAPI, ada: User, url: str, places: Restarts, number: int) -> list[str]:  # noqa: F811
    """Run a listener and a sweep until the job of this number is answered."""
    redis: StruckRedis = StruckRedis.from_url(url)
    redis.places = places
    resources = app.state.resources
    config = QueueConfig(url, {"me": ada.email}, listener_s=0.1, claim_s=0.1, idle_pause_s=0.05)

    def jobs_of(owner: UUID) -> JobService:
        return make_job_service(resources, owner)

    queue = JobQueue(redis, resources.database, config, jobs_of)
    sweep = JobSweep(resources.database, config, jobs_of, queue)
    tasks = [asyncio.create_task(work) for work in sweep.background()]
    try:
        async with Redis.from_url(url) as sending:
            return await Sender(sending).send(number)
    finally:
        # The answer can be read while the server is restarted behind it.
        await places.finish()
        await cancel_and_wait(*tasks)
        await redis.aclose()


@pytest.mark.usefixtures("worker")
async def test_a_job_is_done_once_though_redis_is_emptied_at_any_place(
    app: FastAPI,  # noqa: F811
    ada: User,  # noqa: F811
    valkey: Valkey,
) -> None:
    saved = await ada.http.post("/workflows", json={"name": "Best", **DOCUMENT})
    assert saved.status_code == 201, saved.text
    restarts = 0

    def restart() -> None:
        nonlocal restarts
        restarts += 1
        valkey.stop()
        valkey.start()

    for number in range(MAX_PLACES):
        answers = await consume(app, ada, valkey.url(), Restarts(number, restart), number)
        database = app.state.resources.database
        stored = "select answer::text from agent_jobs where job_id = $1"
        answer = json.loads(await database.value(stored, f"job-{number}"))
        assert [json.loads(text) for text in answers] == [answer]
        assert answer["status"] == "completed", answer
        assert await database.value("select version from workflows") == number + 2
        assert await database.value("select count(*) from sessions where graph = 'job'") == number + 1
        if restarts <= number:
            break
    assert 8 <= restarts < MAX_PLACES
