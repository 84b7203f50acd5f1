"""One process of the service: started, waited for, and stopped; it dies with us."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.errors import Unavailable
from app.servers.launch import identity
from app.servers.os_user import Account, launcher

_POLL_S = 0.01
_MAX_LOG_BYTES = 16 << 20

BARE_ENVIRONMENT: Mapping[str, str] = {"PATH": os.defpath, "LC_ALL": "C"}


@dataclass
class Daemon:
    """`pid_file` names the process so that it cannot be mistaken for another with its pid."""

    name: str
    account: Account
    pid_file: Path
    log: Path
    stop_signal: signal.Signals
    environment: Mapping[str, str] = field(default_factory=lambda: BARE_ENVIRONMENT)
    folder: Path | None = None
    process: "subprocess.Popen[bytes] | None" = field(default=None, init=False)
    _log_start: int = field(default=0, init=False)

    def launch(self, command: Sequence[str], pass_fds: Sequence[int] = ()) -> None:
        """Start it and do not wait; call it from the thread that lives longest."""
        self.end_leftover()
        if self.log.exists() and self.log.stat().st_size > _MAX_LOG_BYTES:
            self.log.unlink()
        with self.log.open("ab") as log:
            self._log_start = log.tell()
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

    def start(self, command: Sequence[str], ready: Callable[[], bool], timeout_s: float = 300.0) -> None:
        """Start it and wait until it is ready; raises Unavailable with the last line of its log."""
        self.launch(command)
        self.wait_until(ready, timeout_s)

    def wait_until(self, ready: Callable[[], bool], timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        while not ready():
            if not self.alive or time.monotonic() > deadline:
                self.stop()
                raise Unavailable(
                    "server_not_started",
                    f"{self.name} did not start: {self.last_log_line()} (see {self.log})",
                )
            time.sleep(_POLL_S)

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def request_stop(self) -> None:
        if self.process and self.alive:
            self.process.send_signal(self.stop_signal)

    def stop(self, patience_s: float = 20.0) -> None:
        """Ask, wait, and only then kill."""
        self.request_stop()
        self.wait_or_kill(patience_s)

    def wait_or_kill(self, patience_s: float) -> None:
        if self.process is None:
            return
        try:
            self.process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None
        self.pid_file.unlink(missing_ok=True)

    def end_leftover(self, patience_s: float = 20.0) -> None:
        """A process whose owner was killed is stopping by itself: wait for it, then insist."""
        pid = self.leftover()
        if pid is None:
            return
        os.kill(pid, self.stop_signal)
        deadline = time.monotonic() + patience_s
        while self.leftover() == pid:
            if time.monotonic() > deadline:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                deadline += patience_s
            time.sleep(_POLL_S)

    def leftover(self) -> int | None:
        """The living process of an earlier start, if its pid was not taken by somebody else since."""
        try:
            recorded_identity = self.pid_file.read_text()
            pid = int(recorded_identity.split()[0])
            return pid if identity(pid) == recorded_identity else None
        except (OSError, ValueError, IndexError):
            return None

    def last_log_line(self) -> str:
        """The last line that it logged since it was started."""
        lines = self.log_text().splitlines()
        return lines[-1] if lines else "it said nothing."

    def log_text(self) -> str:
        """The text that it logged since it was started."""
        if not self.log.exists():
            return ""
        return self.log.read_bytes()[self._log_start :].decode(errors="replace").strip()
