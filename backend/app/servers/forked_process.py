"""Process of the service that is a fork of this one: it starts with everything imported, in milliseconds.

A fork shares the memory of what was imported before it, so that the API and the workers need one import and one
copy of their libraries.
"""

import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NoReturn

from app.servers.launch import die_with, identity

_POLL_S = 0.01
"""Seconds between looks at a process that ends."""
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass
class ForkedProcess:
    """A child by its pid, with the methods of `subprocess.Popen` that a supervisor needs."""

    pid: int
    returncode: int | None = field(default=None, init=False)

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while the process runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end. Raises subprocess.TimeoutExpired after `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if deadline is not None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
            time.sleep(_POLL_S)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def can_fork() -> bool:
    """Return True if a fork of this process is sound: a lock that a second thread holds would stay locked."""
    return sys.platform == "linux" and len([*Path("/proc/self/task").iterdir()]) == 1


def fork_process(
    run: Callable[[], int],
    log: IO[bytes],
    pid_file: Path,
    stop_signal: signal.Signals,
    environment: Mapping[str, str],
    kept_descriptors: Collection[int] = (),
) -> ForkedProcess:
    """Fork a process that calls `run`, and ends with its exit code.

    As after an exec: the process has this environment only, a session of its own, no descriptor but the kept
    ones, and no handler of a signal. It gets `stop_signal` when the thread that forks it ends.
    """
    # The child would write what is still buffered a second time.
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    # Held back until the child has no handler of this process: one would swallow the signal there.
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOP_SIGNALS)
    try:
        pid = os.fork()
        if pid == 0:
            _become_child(run, parent, log, pid_file, stop_signal, environment, kept_descriptors)
        return ForkedProcess(pid)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)


def _become_child(
    run: Callable[[], int],
    parent: int,
    log: IO[bytes],
    pid_file: Path,
    stop_signal: signal.Signals,
    environment: Mapping[str, str],
    kept_descriptors: Collection[int],
) -> NoReturn:
    """Never returns: the frames below belong to the parent, whose clean-up must not run here."""
    code = 1
    try:
        os.setsid()
        _replace_descriptors(log, kept_descriptors)
        die_with(parent, stop_signal)
        pid_file.write_text(identity(os.getpid()))
        os.environ.clear()
        os.environ.update(environment)
        for number in _STOP_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        # As after a start of Python: Ctrl-C raises KeyboardInterrupt.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)
        code = run()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - nothing above this may see it
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _replace_descriptors(log: IO[bytes], inherited: Collection[int]) -> None:
    """Give every other descriptor to /dev/null; its number stays taken.

    Objects of the parent still hold the numbers: a number that is free would soon be another file's, which they
    would then close.
    """
    null_device = os.open(os.devnull, os.O_RDWR)
    os.dup2(null_device, 0)
    for standard in (1, 2):
        os.dup2(log.fileno(), standard)
    # Streams of their own: the parent's may be buffers, or set for a terminal.
    sys.stdout = os.fdopen(1, "w", buffering=1, closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    for entry in [*Path("/proc/self/fd").iterdir()]:
        number = int(entry.name)
        # One of them was the listing's own, and is closed by now.
        if number > 2 and number != null_device and number not in inherited and entry.exists():
            os.dup2(null_device, number, inheritable=False)
