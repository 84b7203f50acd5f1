"""The whole service of one machine: its servers, the API and the workers, kept running by one process."""

import errno
import gc
import http.client
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

from app.cli.connection.addresses import reachable
from app.cli.connection.command_process import start_command
from app.cli.connection.service_file import ServiceAddresses, publish_addresses, running_service
from app.cli.supervisor.isolation_notice import IsolationNotice
from app.cli.supervisor.process_commands import QUEUES, load_shared, load_worker
from app.cli.supervisor.scrape_targets import Targets
from app.cli.supervisor.service_part import SupervisedProcess
from app.cli.supervisor.start_timing import StartTiming
from app.errors import Conflict, LabError, Unavailable
from app.llm.provider_catalog import check_chat_settings
from app.servers.child_process import Daemon
from app.servers.embedded import EmbeddedServers, FolderLock
from app.servers.folders import private_folder, socket_folder
from app.servers.os_user import CALLER_ACCOUNT
from app.servers.postgres import Postgres
from app.servers.valkey import Valkey
from app.settings import Settings, child_environment

_WATCH_S = 0.2
_DRAIN_S = 45.0
"""Longer than a worker takes to hand back its leases on a busy machine; a second Ctrl-C waits for nobody."""
_READY_S = 60.0
"""Seconds for the workers to be seen; without them the service is up, and `/readyz` says what is missing."""
_READY_PAUSE_S = 0.1
"""Seconds between looks at `/readyz`, each of which takes the API a hundredth of a second."""
_ANSWER_S = 3.0
"""Above the 2 s in which the API's own checks answer or give up."""
_START_S = 600.0
"""For the API to answer while its process lives: on a busy machine its imports alone take a minute."""

_OTHER_SERVICE = "Waiting for another service on this folder, which starts or stops."


class _Stopped(Exception):
    """`stopping` was set while the service started."""


class Service:
    """Use it from the main thread: its processes die with the thread that started them.

    `tell` is given one readable line about whatever happens, `announce` one about each stage of the start.
    """

    def __init__(
        self,
        settings: Settings,
        tell: Callable[[str], object],
        announce: Callable[[str], object] = lambda stage: None,
    ) -> None:
        self._settings = settings
        self._home = settings.home
        self._tell, self._announce = tell, announce
        self._servers = EmbeddedServers(self._home, settings.xdg_runtime_dir)
        self._parts: list[SupervisedProcess] = []
        self._processes: list[Daemon] = []
        self._environment = child_environment({"LABCREW_HOME": str(self._home)})
        self._undo = ExitStack()
        self._publication = ExitStack()
        self._targets = Targets(settings)
        self.stages = StartTiming(announce)
        self.stopping = threading.Event()

    def start(self) -> ServiceAddresses | None:
        """Start everything, and return the addresses; None if `stopping` was set meanwhile.

        Raises Conflict when a service runs on this folder, or the port is taken, and InvalidInput for
        settings of a chat model that cannot work."""
        # First: a wrong setting is told in a moment, and not after the servers have started.
        check_chat_settings(self._settings.chat)
        private_folder(self._home)
        lock = FolderLock(self._home / "lock")
        try:
            lock.take(self._is_other_unpublished, lambda: self._announce(_OTHER_SERVICE))
        except _Stopped:
            return None
        self._undo.callback(lock.release)
        try:
            return self._start()
        except _Stopped:
            self.stop()
            return None
        except BaseException:
            self.stop()
            raise

    def watch(self, api: str) -> None:
        """Start again what dies, until `stopping` is set. Raises Unavailable when a part keeps dying.

        Tells once, when the API at the address `api` knows, that the cells lack isolation.
        """
        notice = IsolationNotice(api, self._tell)
        while not self.stopping.wait(_WATCH_S):
            notice.look()
            for part in self._parts:
                self._look_after(part)

    def stop(self) -> None:
        """The API and the workers first, then the cells that their steps compute in, then their servers."""
        # Before anything ends: a command that comes now starts a service of its own once this one has ended.
        self._publication.close()
        # All are asked before any is waited for, so that they end at the same time.
        for processes in (self._processes[1:], self._processes[:1]):
            for process in processes:
                process.request_stop()
            for process in processes:
                process.wait_or_kill(_DRAIN_S)
        self._servers.stop()
        self._undo.close()

    def hurry(self) -> None:
        """The second Ctrl-C: nobody waits for what is still running."""
        for process in self._processes:
            if process.process and process.alive:
                process.process.kill()

    def _start(self) -> ServiceAddresses:
        """Start what needs no import of this process first, and import while that starts."""
        # Before anything is started, so that a port that is taken is told at once.
        listener = self._listen()
        self._undo.callback(listener.close)
        self._undo.callback(self._targets.close)
        host, port = listener.getsockname()[:2]
        api = f"http://{reachable(host)}:{port}"
        cells, charts = self._begin_computing()
        valkey = None if self._settings.redis_address else self._begin_valkey()
        postgres = None if self._settings.database_url else self._begin_postgres()
        self.stages.end("servers launched", next_stage="Starting the servers, importing what all parts share.")
        load_shared(self._check_stopping)
        self.stages.end("imports that all share", next_stage="Waiting for Postgres and Valkey.")
        redis_url = valkey.url() if valkey else self._settings.redis_address or ""
        database_url = postgres.url() if postgres else self._settings.database_url or ""
        self._wait_for_servers(valkey, postgres)
        self.stages.end("servers ready", waited=True, next_stage="Bringing the schema up to date.")
        self._environment = child_environment(
            {
                "LABCREW_HOME": str(self._home),
                "DATABASE_URL": database_url,
                "REDIS_URL": redis_url,
                "CELLS_SOCKET": str(cells),
                "CHARTS_SOCKET": str(charts),
            }
        )
        schema_stage = "migration" if _migrate(database_url) else "schema"
        self.stages.end(schema_stage, next_stage="Starting the API, importing what the workers need.")
        self._check_stopping()
        # Imported modules stay: collecting them would copy the pages that the forks share.
        gc.freeze()
        # Before the imports of the workers, which the API does not need and would otherwise wait for.
        api_process = self._begin_api(listener)
        # A client that comes before the API answers waits in the backlog of the listener.
        addresses = ServiceAddresses(api, database_url, redis_url, os.getpid())
        self._publication.enter_context(publish_addresses(self._home, addresses))
        load_worker(self._check_stopping)
        self.stages.end("imports of the workers", next_stage="Waiting for the API.")
        gc.freeze()
        for queue in QUEUES:
            for n in range(1, self._settings.workers_per_queue + 1):
                self._begin_worker(f"worker-{queue}-{n}", queue)
        api_process.wait_until(lambda: _answers(api, "/healthz"), _START_S, self._check_stopping)
        self._targets.add("api", f"{reachable(host)}:{port}")
        self._targets.leave(self._home / "run" / "prometheus.json")
        self.stages.end("API ready", waited=True, next_stage="Waiting for the workers.")
        self._wait_for_workers(api)
        self.stages.end("workers ready", waited=True)
        return addresses

    def _begin_computing(self) -> tuple[Path, Path]:
        """Begin the zygote and the drawing process; the paths of their sockets.

        First, because the zygote takes longest; the others wait for it when they need it. And it goes last.
        """
        run = private_folder(self._home / "run")
        sockets = socket_folder(self._home, run, self._settings.xdg_runtime_dir)
        paths: list[Path] = []
        for name in ("cells", "charts"):
            path = private_folder(sockets / name) / "socket"
            self._undo.callback(path.unlink, missing_ok=True)
            self._begin_process(name, [name, "--socket", str(path)])
            paths.append(path)
        return paths[0], paths[1]

    def _wait_for_servers(self, valkey: Valkey | None, postgres: Postgres | None) -> None:
        for server in (valkey, postgres):
            if server:
                server.wait(self._check_stopping)

    def _is_other_unpublished(self) -> bool:
        """Tell if the other service on this folder still starts, or already stops: it has no addresses then."""
        self._check_stopping()
        return running_service(self._home) is None

    def _check_stopping(self) -> None:
        """Raise _Stopped if a signal has come: what is starting need not be awaited."""
        if self.stopping.is_set():
            raise _Stopped

    def _wait_for_workers(self, api: str) -> None:
        """Wait until sessions can run, for a while: a chat model that cannot be used does not keep this up."""
        deadline = time.monotonic() + _READY_S
        while time.monotonic() < deadline and not self.stopping.is_set():
            if _answers(api, "/readyz?strict=1"):
                return
            for part in self._parts:
                self._look_after(part)
            time.sleep(_READY_PAUSE_S)

    def _begin_api(self, listener: socket.socket) -> Daemon:
        return self._begin_process("api", ["api", "--fd", str(listener.fileno())], listener)

    def _begin_worker(self, name: str, queue: str) -> None:
        command, figures_at = ["worker", "--queues", queue], self._targets.listen(name)
        if figures_at:
            command += ["--metrics-fd", str(figures_at.fileno())]
        self._begin_process(name, command, figures_at)

    def _listen(self) -> socket.socket:
        """Ours, so that the port stays the same while the API is started again, and connections wait."""
        host, port = self._settings.api_host, self._settings.api_port
        try:
            return socket.create_server((host, port), family=_family(host), backlog=512)
        except OSError as error:
            reason = (
                f"Another program uses the port {port} of {host}."
                if error.errno == errno.EADDRINUSE
                else f"The API cannot listen on {host}:{port} ({error.strerror})."
            )
            raise Conflict(
                "port_taken",
                f"{reason} Choose another one: labcrew up --port {port % 65535 + 1}, or "
                "--port 0 for any that is free. API_PORT sets it for good.",
            ) from None

    def _begin_postgres(self) -> Postgres:
        postgres = self._servers.prepare_postgres()
        self.stages.end("first processes launched", next_stage="Preparing the database.")
        if postgres.create():
            self.stages.end("database made", waited=True)
        self._begin(SupervisedProcess("postgres", lambda: postgres.daemon, postgres.launch, postgres.start))
        return postgres

    def _begin_valkey(self) -> Valkey:
        valkey = self._servers.prepare_valkey()
        self._begin(SupervisedProcess("valkey", lambda: valkey.daemon, valkey.launch, valkey.start))
        return valkey

    def _begin_process(
        self, name: str, command: Sequence[str], listener: socket.socket | None = None
    ) -> Daemon:
        daemon = Daemon(
            f"Labcrew's {name}",
            CALLER_ACCOUNT,
            private_folder(self._home / "run") / f"{name}.pid",
            private_folder(self._home / "logs") / f"{name}.log",
            signal.SIGTERM,
            self._environment,
        )
        self._processes.append(daemon)
        descriptors = [listener.fileno()] if listener else []
        self._begin(
            SupervisedProcess(name, lambda: daemon, lambda: start_command(daemon, command, descriptors))
        )
        return daemon

    def _begin(self, part: SupervisedProcess) -> None:
        part.begin()
        self._parts.append(part)

    def _look_after(self, part: SupervisedProcess) -> None:
        if part.due_at is None:
            if not part.daemon().alive:
                self._plan_restart(part)
        elif time.monotonic() >= part.due_at:
            try:
                part.begin_again()
                self._tell(f"{part.name} runs again.")
            except LabError as error:
                self._tell(error.detail)
                self._plan_restart(part)

    def _plan_restart(self, part: SupervisedProcess) -> None:
        daemon = part.daemon()
        if part.note_death() is None:
            raise Unavailable(
                "part_keeps_ending", f"{part.name} keeps ending: {daemon.last_log_line()} (see {daemon.log})"
            )
        self._tell(f"{part.name} ended unexpectedly; starting it again.")


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _migrate(database_url: str) -> bool:
    from app.db.migrations import upgrade  # noqa: PLC0415 - half a second that `labcrew --help` need not wait

    return upgrade(database_url)


def _answers(api: str, path: str) -> bool:
    address = urlsplit(api)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=_ANSWER_S)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
