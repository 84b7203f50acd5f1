"""Every process of the service, kept running: like `labcrew up`, but a part may die as often as it will."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from tests.chaos.plan import COMPUTE, STEPS

from app.db.migrations import upgrade
from app.errors import LabError
from app.servers.embedded import EmbeddedServers
from app.servers.os_user import CALLER_ACCOUNT, launcher
from app.servers.postgres import socket_path
from app.settings import Settings

ROOT = Path(__file__).parents[2]
_LOOK_S = 0.05
_DRAIN_S = 25.0


@dataclass
class Part:
    """One process. `begin` starts it and returns it; `held_until`: not to be started again before."""

    name: str
    begin: Callable[[], "subprocess.Popen[bytes]"]
    in_thread: bool = False
    process: "subprocess.Popen[bytes] | None" = None
    held_until: float = 0.0
    deaths: int = 0

    @property
    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def signal(self, number: signal.Signals) -> bool:
        """Send a signal; return true if there was a process to send it to."""
        if not self.is_alive or self.process is None:
            return False
        self.process.send_signal(number)
        return True


@dataclass
class ServiceProcesses:
    """Use it from the main thread of a process: its parts die with the thread that started them."""

    folder: Path
    database_url: str = ""
    redis_url: str = ""
    api_port: int = 0
    parts: dict[str, Part] = field(default_factory=dict)
    _servers: EmbeddedServers = field(init=False)
    _threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(2, "servers"))
    _keeper: "asyncio.Task[None] | None" = None
    _listener: socket.socket = field(init=False)
    links: "subprocess.Popen[bytes]" = field(init=False)

    async def start(self) -> None:
        """Servers, links, zygote, workers, API; returns when the API answers at `api_port`."""
        (self.folder / "logs").mkdir()
        (self.folder / "clocks").mkdir()
        self._servers = EmbeddedServers(self.folder / "home")
        self._servers.prepare_folders()
        sockets = self.folder / "s"
        sockets.mkdir(mode=0o700)
        self._add("cells", ["-m", "app.cli.program", "cells", "--socket", str(sockets / "cells")])
        await asyncio.gather(self._begin(self._valkey()), self._begin(self._postgres()))
        await asyncio.to_thread(upgrade, self.database_url)
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self._open_links(sockets)
        for name in STEPS:
            self._add_worker(name, "steps", 16)
        for name in COMPUTE:
            self._add_worker(name, "compute", os.cpu_count() or 1)
        fd = self._listener.fileno()
        self._add("api", ["-m", "tests.chaos.processes", "api", str(fd)], "api", [fd])
        self._keeper = asyncio.create_task(self._keep_for_ever(), name="keeper")

    async def stop(self) -> list[str]:
        """Ask everybody to stop, as an operator does; the names of those that had to be killed."""
        await self._stop_keeping()
        own_processes = [part for name, part in self.parts.items() if name not in ("postgres", "valkey")]
        for part in own_processes:
            part.signal(signal.SIGCONT)
            part.signal(signal.SIGTERM)
        until = time.monotonic() + _DRAIN_S
        while any(part.is_alive for part in own_processes) and time.monotonic() < until:  # noqa: ASYNC110 - no Event
            await asyncio.sleep(_LOOK_S)
        late = [part.name for part in own_processes if part.is_alive]
        await self.end()
        return late

    async def end(self) -> None:
        """Kill what still runs; safe at any time."""
        await self._stop_keeping()
        for part in self.parts.values():
            if part.name not in ("postgres", "valkey") and part.process:
                with suppress(ProcessLookupError):
                    part.process.kill()
                part.process.wait()
        if "valkey" in self.parts:
            self.parts["valkey"].signal(signal.SIGCONT)
        self._servers.stop()
        if hasattr(self, "links"):
            self.links.kill()
            self.links.wait()
        self._threads.shutdown()

    async def _stop_keeping(self) -> None:
        if self._keeper:
            self._keeper.cancel()
            with suppress(asyncio.CancelledError):
                await self._keeper

    def order(self, link: str, do: str, for_s: float = 0.0, size: float = 0.0) -> None:
        if self.links.stdin is None:
            raise RuntimeError("links are told what to do by a pipe")
        order = {"link": link, "do": do, "for_s": for_s, "size": size}
        self.links.stdin.write(json.dumps(order).encode() + b"\n")
        self.links.stdin.flush()

    async def _keep_for_ever(self) -> None:
        while True:
            for part in self.parts.values():
                if not part.is_alive and time.monotonic() >= part.held_until:
                    part.deaths += 1
                    await self._begin(part)
            await asyncio.sleep(_LOOK_S)

    async def _begin(self, part: Part) -> None:
        """A server takes a while to start: in a thread that lives as long as we do."""
        self.parts[part.name] = part
        if not part.in_thread:
            part.process = part.begin()
            return
        with suppress(LabError):  # tried again at the next look
            part.process = await asyncio.get_running_loop().run_in_executor(self._threads, part.begin)

    def _postgres(self) -> Part:
        postgres = self._servers.prepare_postgres()

        def begin() -> "subprocess.Popen[bytes]":
            postgres.start()
            self.database_url = postgres.url()
            return _running(postgres.daemon.process)

        return Part("postgres", begin, in_thread=True)

    def _valkey(self) -> Part:
        valkey = self._servers.prepare_valkey()
        self.redis_url = valkey.url()

        def begin() -> "subprocess.Popen[bytes]":
            valkey.start()
            return _running(valkey.daemon.process)

        return Part("valkey", begin, in_thread=True)

    def _add_worker(self, name: str, queues: str, threads: int) -> None:
        program = ["-m", "tests.chaos.processes", "worker", name, queues, str(threads)]
        self._add(name, program, "workers")

    def _add(self, name: str, program: Sequence[str], link: str = "", fds: Sequence[int] = ()) -> None:
        """They end with this process however it ends, even when they are stopped: by SIGKILL."""
        log = (self.folder / "logs" / f"{name}.log").open("ab")
        mortal = launcher(CALLER_ACCOUNT, None, signal.SIGKILL)

        def begin() -> "subprocess.Popen[bytes]":
            return subprocess.Popen(
                [*mortal, sys.executable, *program],
                env=self._environment(link),
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=fds,
                start_new_session=True,
            )

        part = self.parts[name] = Part(name, begin)
        part.process = begin()

    def _environment(self, link: str) -> Mapping[str, str]:
        names = {name.upper() for name in Settings.model_fields}
        environment = {name: value for name, value in os.environ.items() if name not in names}
        overrides = {
            "CHAOS_FOLDER": str(self.folder),
            "LABCREW_HOME": str(self.folder / "home"),
            "ARTIFACT_STORAGE_PATH": str(self.folder / "blobs"),
            "CELLS_SOCKET": str(self.folder / "s" / "cells"),
            "MAX_CONCURRENT_SESSIONS": "30",
        }
        if link:
            through = self.folder / "s" / link
            real = self._servers.prepare_folders().sockets
            overrides["DATABASE_URL"] = self.database_url.replace(_quoted(real), _quoted(through))
            overrides["REDIS_URL"] = f"unix://{through / 'valkey.sock'}?db=0"
        return {**environment, **overrides}

    def _open_links(self, sockets: Path) -> None:
        real = self._servers.prepare_folders().sockets
        links: dict[str, list[str | int]] = {}
        for link in ("api", "workers"):
            through = sockets / link
            through.mkdir(mode=0o700)
            links[f"postgres-{link}"] = [str(socket_path(through)), str(socket_path(real))]
            links[f"redis-{link}"] = [str(through / "valkey.sock"), str(real / "valkey.sock")]
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.api_port = probe.getsockname()[1]
        links["http"] = [self.api_port, self._listener.getsockname()[1]]
        mortal = launcher(CALLER_ACCOUNT, None, signal.SIGKILL)
        self.links = subprocess.Popen(
            [*mortal, sys.executable, "-m", "tests.chaos.links", json.dumps(links)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        if self.links.stdout is None or self.links.stdout.readline() != b"ready\n":
            raise RuntimeError("the links did not open")


def _quoted(folder: Path) -> str:
    return quote(str(folder))


def _running(process: "subprocess.Popen[bytes] | None") -> "subprocess.Popen[bytes]":
    if process is None:
        raise RuntimeError("a server that has started has a process")
    return process
