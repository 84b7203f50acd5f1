"""One server process: started, waited for, and stopped; it dies with us."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from app.errors import Unavailable
from app.servers.account import Account, launcher

_POLL_S = 0.01
_LOG_LIMIT_BYTES = 16 << 20


@dataclass
class Daemon:
    """`folder` is the process's working folder and tells it from a stranger with the same pid."""

    name: str
    account: Account
    folder: Path
    pid_file: Path
    log: Path
    stop_signal: signal.Signals
    process: "subprocess.Popen[bytes] | None" = field(default=None, init=False)

    def start(self, command: list[str], ready: Callable[[], bool], timeout_s: float = 30.0) -> None:
        """Start it and wait until it is ready; raises Unavailable with the last line of its log."""
        self.end_leftover()
        if self.log.exists() and self.log.stat().st_size > _LOG_LIMIT_BYTES:
            self.log.unlink()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(  # noqa: S603 - a command list of ours
                [*launcher(self.account, self.pid_file, self.stop_signal), *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env={"PATH": os.defpath, "LC_ALL": "C"},
                start_new_session=True,
            )
        deadline = time.monotonic() + timeout_s
        while not ready():
            if not self.alive or time.monotonic() > deadline:
                self.stop()
                raise Unavailable(
                    "server_not_started",
                    f"The embedded {self.name} did not start: {self.last_words()} ({self.log})",
                )
            time.sleep(_POLL_S)

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def stop(self, patience_s: float = 20.0) -> None:
        """Ask, wait, and only then kill."""
        if self.process is None:
            return
        for how, patience in ((self.stop_signal, patience_s), (signal.SIGKILL, 5.0)):
            if self.process.poll() is None:
                self.process.send_signal(how)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(patience)
        self.process = None

    def end_leftover(self, patience_s: float = 20.0) -> None:
        """A server whose owner was killed is stopping by itself: wait for it, then insist."""
        pid = self.leftover()
        if pid is None:
            return
        os.kill(pid, self.stop_signal)
        deadline = time.monotonic() + patience_s
        while self.leftover() == pid:
            if time.monotonic() > deadline:
                os.kill(pid, signal.SIGKILL)
                deadline += patience_s
            time.sleep(_POLL_S)

    def leftover(self) -> int | None:
        """The living process of an earlier start, if its pid was not taken by somebody else since."""
        try:
            pid = int(self.pid_file.read_text().split()[0])
            works_in = Path(f"/proc/{pid}/cwd").readlink()
        except (OSError, ValueError, IndexError):
            return None
        return pid if works_in == self.folder.resolve() else None

    def last_words(self) -> str:
        lines = self.log.read_text(errors="replace").strip().splitlines() if self.log.exists() else []
        return lines[-1] if lines else "it said nothing."
