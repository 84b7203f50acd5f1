"""Process of the service that is started, awaited and stopped here, and ends with this process."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from app.errors import Unavailable
from app.servers.forked_process import ForkedProcess, fork_process
from app.servers.launch import identity
from app.servers.os_user import Account, launcher

_POLL_S = 0.01
"""Seconds between looks at a process that starts or stops."""
_MAX_LOG_BYTES = 16 << 20
"""Size above which a log is removed at the next start: old logs are not to fill the disk."""
_STOP_WAIT_S = 20.0
"""Seconds for a clean stop before SIGKILL: Postgres flushes its log meanwhile."""
_START_WAIT_S = 300.0
"""Seconds for a start: a second on an idle machine, minutes when Postgres recovers on a slow disk."""

BARE_ENVIRONMENT: Mapping[str, str] = {"PATH": os.defpath, "LC_ALL": "C"}


@dataclass
class Daemon:
    """A process that ends with this one. `pid_file` holds its identity, since pids are used again."""

    name: str
    account: Account
    pid_file: Path
    log: Path
    stop_signal: signal.Signals
    environment: Mapping[str, str] = field(default_factory=lambda: BARE_ENVIRONMENT)
    folder: Path | None = None
    process: "subprocess.Popen[bytes] | ForkedProcess | None" = field(default=None, init=False)
    _log_start: int = field(default=0, init=False)

    def launch(self, command: Sequence[str], pass_fds: Sequence[int] = ()) -> None:
        """Start the process without waiting for it. Call this from the thread that lives longest.

        The kernel ends the process with the thread that started it (`launch.py`).
        """
        with self._open_log() as log:
            self.process = subprocess.Popen(  # noqa: S603 - a command list of ours
                [*launcher(self.account, self.pid_file, self.stop_signal), *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env=dict(self.environment),
                pass_fds=pass_fds,
                start_new_session=True,
            )

    def fork(self, run: Callable[[], int], kept_descriptors: Sequence[int] = ()) -> None:
        """Start the process as a fork of this one, which must have one thread only (`can_fork`)."""
        with self._open_log() as log:
            self.process = fork_process(
                run, log, self.pid_file, self.stop_signal, self.environment, kept_descriptors
            )

    def start(
        self, command: Sequence[str], ready: Callable[[], bool], timeout_s: float = _START_WAIT_S
    ) -> None:
        """Start the process and wait until it is ready. Raises Unavailable with the last line of its log."""
        self.launch(command)
        self.wait_until(ready, timeout_s)

    def wait_until(
        self,
        ready: Callable[[], bool],
        timeout_s: float = _START_WAIT_S,
        on_look: Callable[[], object] = lambda: None,
    ) -> None:
        """Wait until the process is ready. Raises Unavailable with the last line of its log.

        `on_look` is called after each look, and may raise to end this.
        """
        deadline = time.monotonic() + timeout_s
        while not ready():
            on_look()
            if not self.alive or time.monotonic() > deadline:
                self.stop()
                raise Unavailable(
                    "server_not_started",
                    f"{self.name} did not start: {self.last_log_line()} (see {self.log})",
                )
            time.sleep(_POLL_S)

    def _open_log(self) -> IO[bytes]:
        """End what an earlier start left, and open the log for a new one."""
        # Two servers on one folder of data would destroy it.
        self.end_leftover()
        if self.log.exists() and self.log.stat().st_size > _MAX_LOG_BYTES:
            self.log.unlink()
        log = self.log.open("ab")
        self._log_start = log.tell()
        return log

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def request_stop(self) -> None:
        if self.process and self.alive:
            self.process.send_signal(self.stop_signal)

    def stop(self, max_wait_s: float = _STOP_WAIT_S) -> None:
        """Send the stop signal and wait; kill the process if it does not end in time."""
        self.request_stop()
        self.wait_or_kill(max_wait_s)

    def wait_or_kill(self, max_wait_s: float) -> None:
        if self.process is None:
            return
        try:
            self.process.wait(max_wait_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None
        self.pid_file.unlink(missing_ok=True)

    def end_leftover(self, max_wait_s: float = _STOP_WAIT_S) -> None:
        """Stop the process of an earlier start whose owner was killed. It is mostly stopping already."""
        pid = self.leftover()
        if pid is None:
            return
        with contextlib.suppress(ProcessLookupError):  # it may end at this moment
            os.kill(pid, self.stop_signal)
        deadline = time.monotonic() + max_wait_s
        while self.leftover() == pid:
            if time.monotonic() > deadline:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                deadline += max_wait_s
            time.sleep(_POLL_S)

    def leftover(self) -> int | None:
        """Return the pid of an earlier start's process that still runs, unless another process has it now."""
        try:
            recorded_identity = self.pid_file.read_text()
            pid = int(recorded_identity.split()[0])
            return pid if identity(pid) == recorded_identity else None
        except (OSError, ValueError, IndexError):
            return None

    def last_log_line(self) -> str:
        """Return the last line of the log since the start."""
        lines = self.log_text().splitlines()
        return lines[-1] if lines else "its log is empty."

    def log_text(self) -> str:
        """Return the log since the start."""
        if not self.log.exists():
            return ""
        return self.log.read_bytes()[self._log_start :].decode(errors="replace").strip()
