"""Duration of a session of nine no-op agents through the authenticated API, on the real servers.

    python -m benchmarks.sessions.run [--sessions 200] [--clients 32]

Every step is committed with fsync on. Beside it, in the same run, its floor: the same graph in one process with
nothing behind it.
"""

import argparse
import asyncio
import statistics
import time
from datetime import UTC, datetime
from uuid import uuid4

import uvloop
from benchmarks.client import Client, Timing
from benchmarks.service import NOOP_WORKER, UNMETERED, service, sign_in
from benchmarks.sessions.noop import spec

from app.sessions.in_memory import MemoryDrive
from app.sessions.step_scope import SessionFacts


async def measure(port: int, token: str, clients: int, sessions: int) -> tuple[list[Timing], float]:
    """Return the timings of all sessions, and the sessions a second."""
    remaining = iter(range(sessions))
    timings: list[Timing] = []

    async def run_client() -> None:
        client = await Client.connect(port, token)
        for _ in remaining:
            timings.append(await client.run_session())
        client.close()

    started = time.perf_counter()
    await asyncio.gather(*(run_client() for _ in range(clients)))
    return timings, sessions / (time.perf_counter() - started)


async def floor_ms(runs: int = 200) -> float:
    """The same graph in this process, journaled in memory."""
    facts = SessionFacts(uuid4(), uuid4(), "nothing", {}, (), 1, datetime.now(UTC))
    graph, durations_ms = spec(), []
    for _ in range(runs):
        started = time.perf_counter()
        await MemoryDrive(graph, facts).run()
        durations_ms.append((time.perf_counter() - started) * 1000)
    return statistics.median(durations_ms)


def median(timings: list[Timing], name: str) -> float:
    return statistics.median(getattr(timing, name) for timing in timings)


async def report(port: int, sessions: int, clients: int) -> None:
    token = await sign_in(port)
    await measure(port, token, 1, 30)
    single, _ = await measure(port, token, 1, sessions)
    await measure(port, token, clients, 2 * clients)
    concurrent, rate = await measure(port, token, clients, 4 * sessions)
    minimum_ms = await floor_ms()
    print(f"graph in process (floor)            {minimum_ms:8.1f} ms")
    print(f"1 client:  POST answered            {median(single, 'created_ms'):8.1f} ms")
    print(f"1 client:  POST to first event      {median(single, 'first_ms'):8.1f} ms   goal 8")
    print(f"1 client:  POST to terminal event   {median(single, 'terminal_ms'):8.1f} ms   goal 20")
    print(f"1 client:  session / floor          {median(single, 'terminal_ms') / minimum_ms:8.1f}      goal 6")
    print(f"{clients} clients: POST to terminal event  {median(concurrent, 'terminal_ms'):8.1f} ms")
    print(f"{clients} clients: sessions per second     {rate:8.1f}      goal 100")


def main(sessions: int, clients: int) -> None:
    with service(USER_SESSIONS="0", **UNMETERED) as running:
        running.start("worker", NOOP_WORKER)
        uvloop.run(report(running.port, sessions, clients))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--clients", type=int, default=32)
    options = parser.parse_args()
    main(options.sessions, options.clients)
