"""The service for as long as a block runs, on servers of its own: what the benchmarks measure."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from benchmarks.client import Client
from benchmarks.quality.resource_usage import cpu_s, machine_busy_s, memory_bytes, process_tree

from app.db.migrations import upgrade
from app.servers.embedded import EmbeddedServers

ROOT = Path(__file__).parents[1]
API = "app.cli.program api"
STEPS = "app.cli.program worker --queues=steps"
COMPUTE = "app.cli.program worker --queues=compute"
NOOP_WORKER = "benchmarks.sessions.worker"

UNMETERED = {"USER_REQUESTS": "1000000/minute", "ADDRESS_REQUESTS": "1000000/minute"}
"""Limits that are kept like any other and that no benchmark reaches."""


@dataclass
class Service:
    """Postgres, Valkey, and processes by name, each started with these settings."""

    port: int
    database_url: str
    redis_url: str
    environment: dict[str, str]
    running: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    def start(self, name: str, module: str, **settings: str) -> None:
        self.running[name] = subprocess.Popen(
            [sys.executable, "-m", *module.split()],
            cwd=ROOT,
            env={**os.environ, **self.environment, **settings},
            start_new_session=True,
        )

    def stop(self, name: str) -> None:
        """At once, with whatever it started."""
        process = self.running.pop(name)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def end(self, name: str, patience_s: float = 20) -> None:
        """As an operator would."""
        self.running[name].terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.running[name].wait(patience_s)
        self.stop(name)

    def cpu_s(self, name: str) -> float:
        return cpu_s(process_tree(self.running[name].pid))

    def servers_cpu_s(self) -> float:
        """Return the processor seconds of Postgres and Valkey."""
        own_processes = {
            os.getpid(),
            *(pid for process in self.running.values() for pid in process_tree(process.pid)),
        }
        return cpu_s([pid for pid in process_tree(os.getpid()) if pid not in own_processes])

    def memory_mb(self, name: str) -> float:
        return memory_bytes(process_tree(self.running[name].pid)) / 2**20


@contextlib.contextmanager
def service(**settings: str) -> Iterator[Service]:
    """Run migrated servers and the API in a temporary folder; `settings` are environment variables."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # whoever ends us ends all of it
    folder = tempfile.TemporaryDirectory(prefix="labcrew-bench-", ignore_cleanup_errors=True)
    home = Path(folder.name)
    servers = EmbeddedServers(home)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    running: Service | None = None
    try:
        database_url, redis_url = servers.start_postgres(), servers.start_valkey()
        upgrade(database_url)
        environment = {
            "DATABASE_URL": database_url,
            "REDIS_URL": redis_url,
            "LABCREW_HOME": str(home),
            "API_PORT": str(port),
            "LOG_LEVEL": "WARNING",
            "LANGSMITH_TRACING": "false",
            **settings,
        }
        running = Service(port, database_url, redis_url, environment)
        running.start("api", API)
        yield running
    finally:
        for name in list(running.running) if running else ():
            running.stop(name)
        servers.stop()
        folder.cleanup()


async def sign_in(port: int) -> str:
    """A new user's token, as soon as the API answers."""
    deadline = time.monotonic() + 120
    while True:
        try:
            client = await Client.connect(port)
            break
        except OSError:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.1)
    person: dict[str, object] = {"email": f"{uuid4().hex}@example.com", "password": uuid4().hex}
    await client.call("POST", "/api/v1/auth/register", person)
    answer = await client.call("POST", "/api/v1/auth/token", person)
    client.close()
    return str(answer["access_token"])


class Load:
    """Mean number of busy processors while a block ran, in `summary`: a timing means little without it."""

    def __enter__(self) -> "Load":
        self._initial = time.monotonic(), machine_busy_s(), self._own_cpu_s()
        return self

    def __exit__(self, *_: object) -> None:
        wall_s = max(time.monotonic() - self._initial[0], 1e-3)
        busy = (machine_busy_s() - self._initial[1]) / wall_s
        own = (self._own_cpu_s() - self._initial[2]) / wall_s
        others = max(busy - own, 0.0)
        self.summary = f"{own:.1f} processors used by this, {others:.1f} by others, of {os.cpu_count()}"

    def _own_cpu_s(self) -> float:
        return cpu_s(process_tree(os.getpid()))
