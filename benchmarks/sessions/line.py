"""1,000 sessions wait for one worker: `python -m benchmarks.sessions.line [--sessions 1000]`.

They are made while nobody works, through the API with its limits; then one worker drives them to their end,
once with a line (100 run at a time, the setting as it is delivered) and once without. What each tenth of them
cost the worker and the servers, how much memory there is, and whether every session has ended with every step
and event.
"""

import argparse
import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import uvloop
from benchmarks.client import Client
from benchmarks.service import NOOP_WORKER, Load, Service, service, sign_in
from benchmarks.sessions.noop import NODES

from app.db.pool import Database

_SESSIONS = "/api/v1/lab/agent/sessions"
_LOOK_S = 0.05
_WITHIN_S = 600
_PARTS = 10

_ENDED = "select count(*) as n from sessions where ended_at is not null"
_WHOLE = """
select count(*) filter (where status <> 'completed' or last_seq <> $1
    or (select count(*) from steps where session_id = s.id) <> $1
    or (select array_agg(n order by n) from events where session_id = s.id)
      is distinct from (select array_agg(n) from generate_series(1, event_seq) n)) as broken,
  count(*) as made, max(ended_at - created_at) as longest
from sessions s
"""


@dataclass(frozen=True)
class Look:
    """How far it was, and what it had cost until then."""

    ended: int
    at: float
    worker_s: float
    servers_s: float
    worker_mb: float
    api_mb: float


async def fill(running: Service, sessions: int) -> None:
    token = await sign_in(running.port)
    clients = [await Client.connect(running.port, token) for _ in range(4)]
    left = iter(range(sessions))

    async def one(client: Client) -> None:
        for _ in left:
            await client.call("POST", _SESSIONS, {"goal": "do nothing, nine times"})
        client.close()

    began = time.perf_counter()
    await asyncio.gather(*(one(client) for client in clients))
    print(f"  {sessions:,} made in {time.perf_counter() - began:.1f} s", flush=True)


async def look_on(running: Service, db: Database, sessions: int) -> list[Look]:
    """One look for each tenth that has ended, and one at the beginning."""
    looks: list[Look] = []
    until = time.monotonic() + _WITHIN_S
    while time.monotonic() < until:
        row = await db.row(_ENDED)
        ended = int(row["n"]) if row else 0
        if ended >= len(looks) * sessions // _PARTS:
            looks.append(_look(running, ended))
        if ended == sessions:
            return looks
        await asyncio.sleep(_LOOK_S)
    raise TimeoutError(f"{ended} of {sessions} have ended after {_WITHIN_S} s")


def _look(running: Service, ended: int) -> Look:
    return Look(
        ended,
        time.perf_counter(),
        running.cpu_s("worker"),
        running.servers_cpu_s(),
        running.memory_mb("worker"),
        running.memory_mb("api"),
    )


def tell(looks: Sequence[Look]) -> None:
    print("   ended   sessions/s   worker CPU   servers CPU   worker      API")
    for before, after in pairwise(looks):
        each = max(after.ended - before.ended, 1)
        rate = each / max(after.at - before.at, 1e-6)
        worker_ms = 1e3 * (after.worker_s - before.worker_s) / each
        servers_ms = 1e3 * (after.servers_s - before.servers_s) / each
        print(
            f"  {after.ended:6,} {rate:10.1f} {worker_ms:10.1f} ms {servers_ms:10.1f} ms"
            f" {after.worker_mb:6.0f} MB {after.api_mb:5.0f} MB"
        )


async def case(running: Service, sessions: int) -> float:
    """Seconds that the worker took."""
    await fill(running, sessions)
    db = await Database.open(running.database_url)
    running.start("worker", NOOP_WORKER)
    with Load() as load:
        looks = await look_on(running, db, sessions)
    tell(looks)
    row = await db.row(_WHOLE, len(NODES)) or {}
    await db.close()
    took_s = looks[-1].at - looks[0].at
    print(f"  {sessions / took_s:.1f} sessions/s; {row['broken']} of {row['made']:,} lack a step or an event")
    print(f"  longest from made to ended {row['longest'].total_seconds():.1f} s; load: {load.said}", flush=True)
    return took_s


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=1000)
    given = parser.parse_args()
    took = {}
    for most in (100, 0):
        print(f"{given.sessions:,} sessions, MAX_CONCURRENT_SESSIONS={most}", flush=True)
        with service(MAX_CONCURRENT_SESSIONS=str(most), USER_SESSIONS="0") as running:
            took[most] = uvloop.run(case(running, given.sessions))
    print(f"with the line {took[100] / took[0]:.2f} times as long as without")


if __name__ == "__main__":
    main()
