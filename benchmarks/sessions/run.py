"""How long a session of nine no-op agents takes through the authenticated API, on the real servers.

    python -m benchmarks.sessions.run [--sessions 200] [--clients 32]

Every step is committed with fsync on. Beside it, in the same run, its floor: the same graph in one process with
nothing behind it.
"""

import argparse
import asyncio
import contextlib
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import uvloop
from benchmarks.sessions.client import Client, Timing
from benchmarks.sessions.noop import spec

from app.db.migrations import upgrade
from app.servers.embedded import EmbeddedServers
from app.sessions.memory import MemoryDrive
from app.sessions.scope import SessionFacts

ROOT = Path(__file__).parents[2]


@contextlib.contextmanager
def service(home: Path) -> Iterator[int]:
    """The servers, the API and one worker; yields the API's port."""
    servers = EmbeddedServers(home)
    running: list[subprocess.Popen[bytes]] = []
    try:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        database_url, redis_url = servers.start_postgres(), servers.start_valkey()
        upgrade(database_url)
        environment = {
            **os.environ,
            "DATABASE_URL": database_url,
            "REDIS_URL": redis_url,
            "LABCREW_HOME": str(home),
            "API_PORT": str(port),
            "USER_SESSIONS": "0",
            "USER_REQUESTS": "1000000/minute",  # metered, never refused
            "ADDRESS_REQUESTS": "1000000/minute",
            "LOG_LEVEL": "WARNING",
        }
        for module in (["app.cli.program", "api"], ["benchmarks.sessions.worker"]):
            command = [sys.executable, "-m", *module]
            running.append(subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True))
        yield port
    finally:
        for process in running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        servers.stop()


async def sign_in(port: int) -> str:
    """A new user's token, as soon as the API answers."""
    until = time.monotonic() + 120
    while True:
        try:
            client = await Client.connect(port)
            break
        except OSError:
            if time.monotonic() > until:
                raise
            await asyncio.sleep(0.1)
    person: dict[str, object] = {"email": f"{uuid4().hex}@example.com", "password": uuid4().hex}
    await client.call("POST", "/api/v1/auth/register", person)
    answer = await client.call("POST", "/api/v1/auth/token", person)
    client.close()
    return str(answer["access_token"])


async def measure(port: int, token: str, clients: int, sessions: int) -> tuple[list[Timing], float]:
    """Timings of all sessions, and how many ended per second."""
    left = iter(range(sessions))
    timings: list[Timing] = []

    async def one() -> None:
        client = await Client.connect(port, token)
        for _ in left:
            timings.append(await client.run_session())
        client.close()

    started = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(clients)))
    return timings, sessions / (time.perf_counter() - started)


async def floor_ms(runs: int = 200) -> float:
    """The same graph in this process, journaled in memory."""
    facts = SessionFacts(uuid4(), uuid4(), "nothing", {}, (), 1, datetime.now(UTC))
    graph, taken = spec(), []
    for _ in range(runs):
        started = time.perf_counter()
        await MemoryDrive(graph, facts).run()
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken)


def median(timings: list[Timing], name: str) -> float:
    return statistics.median(getattr(timing, name) for timing in timings)


async def report(port: int, sessions: int, clients: int) -> None:
    token = await sign_in(port)
    await measure(port, token, 1, 30)
    alone, _ = await measure(port, token, 1, sessions)
    await measure(port, token, clients, 2 * clients)
    crowd, rate = await measure(port, token, clients, 4 * sessions)
    print(f"graph in process (floor)            {await floor_ms():8.1f} ms")
    print(f"1 client:  POST answered            {median(alone, 'created_ms'):8.1f} ms")
    print(f"1 client:  POST to first event      {median(alone, 'first_ms'):8.1f} ms   goal 8")
    print(f"1 client:  POST to terminal event   {median(alone, 'terminal_ms'):8.1f} ms   goal 20")
    print(f"{clients} clients: POST to terminal event  {median(crowd, 'terminal_ms'):8.1f} ms")
    print(f"{clients} clients: sessions per second     {rate:8.1f}      goal 100")


def main(sessions: int, clients: int) -> None:
    os.environ["LANGSMITH_TRACING"] = "false"
    with tempfile.TemporaryDirectory(prefix="labcrew-bench-") as folder, service(Path(folder)) as port:
        uvloop.run(report(port, sessions, clients))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--clients", type=int, default=32)
    given = parser.parse_args()
    main(given.sessions, given.clients)
