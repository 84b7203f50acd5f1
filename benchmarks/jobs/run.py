"""Jobs of the Redis queue: `python -m benchmarks.jobs.run [--times 30] [--crowd 100] [--rows 10000]`.

A job sorts a table and keeps its top 10 by a query plan. Printed are the times from push to answer, one job
after the other; jobs a second of a crowd that is pushed at once; and beside them the time of the same plan in
one process, by DuckDB on the same rows.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import duckdb
from benchmarks.client import Client
from benchmarks.service import UNMETERED, Load, Service, service, sign_in
from redis.asyncio import Redis

from app.plans.compiler import compile_plan
from app.plans.plan import Plan
from app.plans.schema import read_table_schema

WORKER = "app.cli.program worker"
PLAN = {
    "source": {"kind": "dataset", "table": "flights"},
    "steps": [
        {"kind": "sort", "keys": [{"column": "city"}]},
        {"kind": "top_k", "k": 10, "by": "price"},
    ],
}


def write_table(path: Path, rows: int) -> None:
    lines = [f"City {row * 7919 % 997},{row * 104_729 % 100_003}" for row in range(rows)]
    path.write_text("\n".join(["city,price", *lines]))


async def push(redis: "Redis", job_id: str) -> None:
    message = {
        "version": "1.0",
        "job_id": job_id,
        "workflow_owner": "bench",
        "prompt": f"PLAN: {json.dumps(PLAN)}",
    }
    await redis.lpush("agent:jobs", json.dumps(message))  # type: ignore[misc]


async def read(redis: "Redis", job_id: str) -> dict[str, Any]:
    answer = await redis.brpop([f"agent:results:{job_id}"], timeout=120)  # type: ignore[misc]
    content: dict[str, Any] = json.loads(answer[1])
    if content["status"] != "completed":
        raise SystemExit(content["error"]["message"])
    return content


def time_in_process(table: Path, times: int) -> list[float]:
    """Return the milliseconds of the plan in this process, on a table that is in memory."""
    schema = read_table_schema([{"name": "city", "type": "text"}, {"name": "price", "type": "integer"}])
    compiled = compile_plan(Plan.model_validate(PLAN), {"flights": schema})
    database = duckdb.connect(config={"threads": 1})
    database.execute(f"create table flights as select * from read_csv('{table}')")
    milliseconds = []
    for _ in range(times):
        began = time.perf_counter()
        database.execute(compiled.sql).fetchall()
        milliseconds.append(1e3 * (time.perf_counter() - began))
    return milliseconds


async def measure(running: Service, options: argparse.Namespace) -> None:
    token = await sign_in(running.port)
    client = await Client.connect(running.port, token)
    address = (await client.call("GET", "/api/v1/auth/me"))["email"]
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "flights.csv"
        write_table(table, options.rows)
        await client.send_file("/api/v1/datasets?filename=flights.csv", table)
        in_process = time_in_process(table, options.times)
    queue = {"AGENT_QUEUE_URL": running.redis_url, "AGENT_QUEUE_OWNERS": f"bench={address}"}
    running.start("worker", WORKER, **queue)
    async with Redis.from_url(running.redis_url, decode_responses=True, socket_timeout=None) as redis:
        await push(redis, "warm")
        await read(redis, "warm")
        with Load() as load:
            milliseconds = []
            for _ in range(options.times):
                job_id, began = uuid4().hex, time.perf_counter()
                await push(redis, job_id)
                await read(redis, job_id)
                milliseconds.append(1e3 * (time.perf_counter() - began))
        print(f"push to answer, {options.rows:,} rows   {describe(milliseconds)}   ({load.summary})")
        print(f"the same plan in one process   {describe(in_process)}")
        with Load() as load:
            ids, began = [uuid4().hex for _ in range(options.crowd)], time.perf_counter()
            for job_id in ids:
                await push(redis, job_id)
            for job_id in ids:
                await read(redis, job_id)
            seconds = time.perf_counter() - began
        print(f"{options.crowd} jobs at once   {options.crowd / seconds:.1f} a second   ({load.summary})")


def describe(milliseconds: list[float]) -> str:
    return f"median {statistics.median(milliseconds):.1f} ms, worst {max(milliseconds):.1f} ms"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=30)
    parser.add_argument("--crowd", type=int, default=100)
    parser.add_argument("--rows", type=int, default=10_000)
    arguments = parser.parse_args()
    with service(**UNMETERED) as started:
        asyncio.run(measure(started, arguments))
