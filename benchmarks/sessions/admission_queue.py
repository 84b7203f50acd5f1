"""1,000 sessions wait for one worker: `python -m benchmarks.sessions.admission_queue [--sessions 1000]`.

They are made while nobody works, through the API with its limits; then one worker drives them to their end,
once with an admission queue (100 run at a time, the default) and once without. Printed are the cost of each
tenth of them for the worker and the servers, the memory, and whether every session ended with every step and
event.
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
PART_COUNT = 10
"""Parts of the sessions whose costs are printed beside each other."""

_ENDED = "select count(*) as n from sessions where ended_at is not null"
_COUNT_BROKEN = """
select count(*) filter (where status <> 'completed' or last_seq <> $1
    or (select count(*) from steps where session_id = s.id) <> $1
    or (select array_agg(n order by n) from events where session_id = s.id)
      is distinct from (select array_agg(n) from generate_series(1, event_seq) n)) as broken,
  count(*) as made, max(ended_at - created_at) as longest
from sessions s
"""


@dataclass(frozen=True)
class Progress:
    """The number of ended sessions at a time, and their cost until then."""

    ended: int
    at: float
    worker_s: float
    servers_s: float
    worker_mb: float
    api_mb: float


async def fill(running: Service, sessions: int) -> None:
    token = await sign_in(running.port)
    clients = [await Client.connect(running.port, token) for _ in range(4)]
    remaining = iter(range(sessions))

    async def create(client: Client) -> None:
        for _ in remaining:
            await client.call("POST", _SESSIONS, {"goal": "do nothing, nine times"})
        client.close()

    started = time.perf_counter()
    await asyncio.gather(*(create(client) for client in clients))
    print(f"  {sessions:,} made in {time.perf_counter() - started:.1f} s", flush=True)


async def follow(running: Service, db: Database, sessions: int) -> list[Progress]:
    """Measure the progress at the beginning, and after each tenth that has ended."""
    measured: list[Progress] = []
    deadline = time.monotonic() + _WITHIN_S
    while time.monotonic() < deadline:
        row = await db.row(_ENDED)
        ended = int(row["n"]) if row else 0
        if ended >= len(measured) * sessions // PART_COUNT:
            measured.append(_measure(running, ended))
        if ended == sessions:
            return measured
        await asyncio.sleep(_LOOK_S)
    raise TimeoutError(f"{ended} of {sessions} have ended after {_WITHIN_S} s")


def _measure(running: Service, ended: int) -> Progress:
    return Progress(
        ended,
        time.perf_counter(),
        running.cpu_s("worker"),
        running.servers_cpu_s(),
        running.memory_mb("worker"),
        running.memory_mb("api"),
    )


def print_progress(measured: Sequence[Progress]) -> None:
    print("   ended   sessions/s   worker CPU   servers CPU   worker      API")
    for before, after in pairwise(measured):
        session_count = max(after.ended - before.ended, 1)
        rate = session_count / max(after.at - before.at, 1e-6)
        worker_ms = 1e3 * (after.worker_s - before.worker_s) / session_count
        servers_ms = 1e3 * (after.servers_s - before.servers_s) / session_count
        print(
            f"  {after.ended:6,} {rate:10.1f} {worker_ms:10.1f} ms {servers_ms:10.1f} ms"
            f" {after.worker_mb:6.0f} MB {after.api_mb:5.0f} MB"
        )


async def case(running: Service, sessions: int) -> float:
    """Run the sessions, and return the seconds that the worker took."""
    await fill(running, sessions)
    db = await Database.open(running.database_url)
    running.start("worker", NOOP_WORKER)
    with Load() as load:
        measured = await follow(running, db, sessions)
    print_progress(measured)
    row = await db.row(_COUNT_BROKEN, len(NODES)) or {}
    await db.close()
    took_s = measured[-1].at - measured[0].at
    print(f"  {sessions / took_s:.1f} sessions/s; {row['broken']} of {row['made']:,} lack a step or an event")
    print(
        f"  longest from made to ended {row['longest'].total_seconds():.1f} s; load: {load.summary}", flush=True
    )
    return took_s


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=1000)
    arguments = parser.parse_args()
    took_s = {}
    for limit in (100, 0):
        print(f"{arguments.sessions:,} sessions, MAX_CONCURRENT_SESSIONS={limit}", flush=True)
        with service(MAX_CONCURRENT_SESSIONS=str(limit), USER_SESSIONS="0") as running:
            took_s[limit] = uvloop.run(case(running, arguments.sessions))
    print(f"with the queue {took_s[100] / took_s[0]:.2f} times as long as without")


if __name__ == "__main__":
    main()
