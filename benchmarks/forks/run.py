"""Time of a fork: `python -m benchmarks.forks.run [--times 20]`.

A session of nine steps with 200 calls of 20 KB (figures of columns, as profiles hold them) and 150 artifacts
with 2 KB of meta data is forked over HTTP at its last step, then one with ten times as many. No worker runs.
Beside each time is that of the processors in API and servers, which others on the machine change less, and the
figures of a new session.
"""

import argparse
import asyncio
import statistics
import time
from uuid import UUID

import asyncpg
from benchmarks.client import Client
from benchmarks.service import UNMETERED, Load, Service, service, sign_in

SESSIONS = "/api/v1/lab/agent/sessions"
CALLS, ARTIFACTS, STEPS = 200, 150, 9
"""Rows of the forked session."""
CALL_BYTES, META_BYTES = 20_000, 2_000

FILL_STEPS = """
    insert into steps (session_id, seq, node, update, fence, started_at, committed_at, worked_s)
    select $1, n, 'planning', '{}', 1, now(), now(), n from generate_series(1, $2::int) n"""
FILL_CALLS = """
    insert into calls (session_id, seq, key, kind, name, agent, request_digest, request, result, failed, fence,
      started_at, duration_ms, usage, worked_s)
    select $1, 1 + n % ($2::int - 1), 'tool:' || n, 'tool', 'run_sql', 'data_analyst', repeat('0', 64), '{}',
      (select json_agg(json_build_object('name', 'column_' || i, 'type', 'number', 'missing', n % 7,
        'mean', round((n * sin(i))::numeric, 6), 'standard_deviation', round((n * cos(i))::numeric, 6)))
        from generate_series(1, $4::int / 115) i),
      false, 1, now(), 1, '{}', n
    from generate_series(1, $3::int) n"""
FILL_ARTIFACTS = """
    insert into artifacts (id, owner_id, session_id, seq, call_key, kind, name, media_type, digest, size_bytes,
      meta)
    select gen_random_uuid(), owner_id, id, 1 + n % ($2::int - 1), 'tool:' || n, 'figure', 'figure-' || n,
      'image/svg+xml', repeat(md5(n::text), 2), 1000,
      jsonb_build_object('title', (select string_agg(md5((n * 1000 + i)::text), ' ')
        from generate_series(1, $4::int / 33) i))
    from sessions, generate_series(1, $3::int) n where id = $1"""


async def fill(db: "asyncpg.Connection[asyncpg.Record]", session: UUID, times: int) -> None:
    """Record the steps of a session, with `times` as many calls and artifacts, and end it."""
    await db.execute(FILL_STEPS, session, STEPS)
    await db.execute(FILL_CALLS, session, STEPS, CALLS * times, CALL_BYTES)
    await db.execute(FILL_ARTIFACTS, session, STEPS, ARTIFACTS * times, META_BYTES)
    await db.execute(
        "update sessions set last_seq = $2, status = 'completed', ended_at = now(), graph_version = 1, "
        "started_at = now() where id = $1",
        session,
        STEPS,
    )


async def measure(running: Service, client: Client, path: str, body: dict[str, object], times: int) -> str:
    """Describe the milliseconds of the requests, and those of processors for each."""
    latencies_ms: list[float] = []
    before_s = running.cpu_s("api") + running.servers_cpu_s()
    for _ in range(times):
        started = time.perf_counter()
        await client.call("POST", path, body)
        latencies_ms.append(1e3 * (time.perf_counter() - started))
    cpu_ms = 1e3 * (running.cpu_s("api") + running.servers_cpu_s() - before_s) / times
    median, worst = statistics.median(latencies_ms), max(latencies_ms)
    return f"median {median:7.1f} ms, worst {worst:7.1f} ms, processors {cpu_ms:6.1f} ms"


async def run(running: Service, times: int) -> None:
    port = running.port
    token = await sign_in(port)
    client = await Client.connect(port, token)
    db = await asyncpg.connect(running.database_url)
    goal: dict[str, object] = {"goal": "be forked"}
    print(f"{'a new session':<40}", await measure(running, client, SESSIONS, goal, times))
    for factor in (1, 10):
        session = UUID((await client.call("POST", SESSIONS, goal))["id"])
        client.close()
        await fill(db, session, factor)
        client = await Client.connect(port, token)
        blobs = await db.fetchval("select count(*) from blob_chunks")
        path = f"{SESSIONS}/{session}/fork"
        figures = await measure(running, client, path, {"at": {"step": STEPS}}, times)
        assert await db.fetchval("select count(*) from blob_chunks") == blobs
        print(f"{f'a fork of {CALLS * factor} calls, {ARTIFACTS * factor} artifacts':<40}", figures)
    client.close()
    await db.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--times", type=int, default=20)
    options = parser.parse_args()
    with service(USER_SESSIONS="0", **UNMETERED) as running, Load() as load:
        asyncio.run(run(running, options.times))
    print(load.summary)


if __name__ == "__main__":
    main()
