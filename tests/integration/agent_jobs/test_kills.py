"""SIGKILL of the consumer of the queue at any command or statement: one answer, one effect."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from redis.asyncio import Redis
from tests.integration.api.conftest import (  # noqa: F401 - fixtures
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
from tests.patience import hang_guard

from app.agent_jobs.queue import QUEUE, RESULTS

ROOT = Path(__file__).parents[3]
MADE = {"source": {"kind": "generate", "rows": 9, "columns": [{"name": "n", "type": "index"}]}}
NODES = [
    {"id": "made", "type": "plan", "config": {"plan": MADE}},
    {"id": "best", "type": "top_k", "config": {"k": 100, "by": "n"}},
]
DOCUMENT = {"nodes": NODES, "edges": [{"from": "made", "to": "best"}]}
pytestmark = pytest.mark.slow

TIMES = 3
"""A sender repeats a job that is not answered yet; by the third message it is held, answered or both."""
PROMPTS = ("SQL: select 7 as n", "change the limit to {k}")


@pytest.fixture
async def consumers() -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.integration.agent_jobs.consumer"), cwd=ROOT, stdin=PIPE, stdout=PIPE
    )
    yield process
    process.kill()
    await process.wait()


async def tell(consumers: Process, line: dict[str, Any]) -> None:
    assert consumers.stdin
    consumers.stdin.write(json.dumps(line).encode() + b"\n")
    await consumers.stdin.drain()


async def outcome(consumers: Process) -> str:
    assert consumers.stdout
    async with hang_guard():
        return (await consumers.stdout.readline()).decode().strip()


async def push(redis: "Redis", number: int, times: int) -> str:
    prompt = PROMPTS[number % 2].format(k=number)
    message = {"version": "1.0", "job_id": f"job-{number}", "workflow_owner": "me", "prompt": prompt}
    message |= {"workflow_tag": "Best", "save": True} if number % 2 else {}
    for _ in range(times):
        await redis.lpush(QUEUE, json.dumps(message))  # type: ignore[misc]
    return f"{RESULTS}job-{number}"


async def check(app: FastAPI, redis: "Redis", key: str, number: int) -> None:  # noqa: F811
    """One answer, the stored one, and what the job changed changed once."""
    answers = await redis.lrange(key, 0, -1)  # type: ignore[misc]
    database = app.state.resources.database
    row = await database.row("select answer::text as answer from agent_jobs where job_id = $1", f"job-{number}")
    assert [json.loads(answer) for answer in answers] == [json.loads(row["answer"])]
    assert json.loads(row["answer"])["status"] == "completed", row
    versions = await database.value("select version from workflows")
    assert versions == 1 + (number + 1) // 2
    assert await database.value("select count(*) from sessions where graph = 'job'") == number + 1


async def prepare(ada: User, consumers: Process, database_url: str, redis_url: str, **more: str) -> None:  # noqa: F811
    saved = await ada.http.post("/workflows", json={"name": "Best", **DOCUMENT})
    assert saved.status_code == 201, saved.text
    owners = {"me": ada.email}
    settings = {"database_url": database_url, "redis_url": redis_url, "owners": owners, **more}  # noqa: F811
    await tell(consumers, settings)


@pytest.mark.usefixtures("worker")
async def test_a_consumer_killed_at_any_place_answers_each_job_once(
    app: FastAPI,  # noqa: F811
    ada: User,  # noqa: F811
    consumers: Process,
    database_url: str,
    redis_url: str,
) -> None:
    await prepare(ada, consumers, database_url, redis_url)
    async with Redis.from_url(redis_url) as redis:
        kills = 0
        for number in range(200):
            key = await push(redis, number, TIMES)
            await tell(consumers, {"place": number, "jobs": number + 1})
            was_killed = await outcome(consumers) == "killed"
            if was_killed:
                kills += 1
                await tell(consumers, {"place": -1, "jobs": number + 1})
                assert await outcome(consumers) == "done"
            await check(app, redis, key, number)
            if not was_killed:
                break
    assert kills >= 15
