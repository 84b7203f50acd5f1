"""A part of the service as a fork of its supervisor."""

import os
import signal
import threading
from pathlib import Path

import pytest

from app.servers.child_process import Daemon
from app.servers.forked_process import can_fork
from app.servers.os_user import CALLER_ACCOUNT


def daemon(folder: Path) -> Daemon:
    log, pid_file = folder / "part.log", folder / "part.pid"
    return Daemon("A part", CALLER_ACCOUNT, pid_file, log, signal.SIGTERM, {"ONLY": "this"})


def test_a_fork_is_sound_with_one_thread_only() -> None:
    released = threading.Event()
    waiting = threading.Thread(target=released.wait)
    waiting.start()
    assert not can_fork()
    released.set()
    waiting.join()


def test_a_fork_has_its_own_environment_session_and_log_and_returns_its_code(tmp_path: Path) -> None:
    part = daemon(tmp_path)
    listening, unrelated = os.pipe()

    def run() -> int:
        os.write(1, f"{dict(os.environ)} {os.getsid(0) == os.getpid()}\n".encode())
        os.write(unrelated, b"kept")  # the number is taken, by /dev/null
        return 7 if str(Path(f"/proc/self/fd/{unrelated}").readlink()) == os.devnull else 1

    part.fork(run, [listening])
    assert part.process is not None
    assert part.process.wait() == 7
    assert part.last_log_line() == "{'ONLY': 'this'} True"
    os.close(unrelated)
    assert os.read(listening, 10) == b""
    os.close(listening)


def test_a_fork_that_raises_ends_with_the_error_in_its_log(tmp_path: Path) -> None:
    part = daemon(tmp_path)
    part.fork(lambda: 1 // 0)
    assert part.process is not None
    assert part.process.wait() == 1
    assert part.last_log_line().startswith("ZeroDivisionError")


def test_a_fork_stops_at_the_signal_of_its_supervisor(tmp_path: Path) -> None:
    part = daemon(tmp_path)
    part.fork(lambda: signal.pause() or 0)  # type: ignore[func-returns-value]
    assert part.process is not None
    pid = part.process.pid
    part.stop()
    assert not part.alive
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert not part.pid_file.exists()


def test_a_leftover_that_ends_while_it_is_looked_up_needs_no_signal(tmp_path: Path) -> None:
    no_pid = (1 << 22) + 1  # above the largest one of Linux
    looks = iter([no_pid, None])

    class EndingDaemon(Daemon):
        def leftover(self) -> int | None:
            return next(looks)

    log, pid_file = tmp_path / "part.log", tmp_path / "part.pid"
    EndingDaemon("A part", CALLER_ACCOUNT, pid_file, log, signal.SIGTERM).end_leftover()
    assert next(looks, "looked at until it was gone") == "looked at until it was gone"
