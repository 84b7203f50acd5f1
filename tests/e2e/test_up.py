"""Starting and stopping `labcrew up`, the polite way and the other."""

import os
import signal
import subprocess
from pathlib import Path

from tests.patience import ended, wait_until

from app.cli.connection.service_file import running_service


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def pids(home: Path) -> list[int]:
    files = [file for file in home.rglob("*.pid") if file.name != "postmaster.pid"]
    # A file is empty for a moment, between its making and its writing.
    return [int(entries[0]) for file in files if (entries := file.read_text().split())]


def test_up_stops_clean_and_comes_back_after_a_kill(home: Path, start_up) -> None:
    first = start_up(home)
    first.wait_until_ready()
    running = pids(home)
    assert len(running) >= 5
    assert first.interrupt() == 0
    assert not any(alive(pid) for pid in running)
    assert running_service(home) is None
    assert not list(home.rglob("*.pid"))
    assert not list(home.rglob("*.sock"))

    second = start_up(home)
    second.wait_until_ready()
    orphans = pids(home)
    os.kill(second.process.pid, signal.SIGKILL)
    second.process.wait()

    third = start_up(home)
    third.wait_until_ready()
    # They were told to end as their parent died, and finish what they do first.
    wait_until(lambda: not any(alive(pid) for pid in orphans), every_s=0.1)
    assert third.interrupt() == 0


def test_a_service_that_stops_is_found_by_nobody_and_the_next_one_waits(
    home: Path, start_up, start_process
) -> None:
    first = start_up(home)
    first.wait_until_ready()
    api = first.pid_of("api")
    # The API cannot end, so the service stops for as long as this test wants.
    os.kill(api, signal.SIGSTOP)
    first.process.send_signal(signal.SIGINT)
    wait_until(lambda: running_service(home) is None, every_s=0.01)
    second = start_process(home, "up")
    wait_until(lambda: "Waiting for another service" in first.output.read_text(), every_s=0.05)
    os.kill(api, signal.SIGCONT)
    assert ended(first.process) == 0
    wait_until(lambda: second.poll() is not None or running_service(home) is not None, every_s=0.05)
    second.send_signal(signal.SIGINT)
    assert ended(second) == 0
    assert running_service(home) is None


def test_a_service_that_is_stopped_while_it_starts_does_not_go_on(tmp_path: Path, start_process) -> None:
    home = tmp_path / "home"
    starting = start_process(home, "up")
    # The first of its processes: the libraries, the servers and the API are still to come.
    wait_until(lambda: starting.poll() is not None or pids(home) != [], every_s=0.01)
    running = pids(home)
    starting.send_signal(signal.SIGTERM)
    assert ended(starting) == 0
    assert "Labcrew is up" not in (home.parent / "up.txt").read_text()
    assert running_service(home) is None
    assert not any(alive(pid) for pid in running)
    assert not list(home.rglob("*.pid"))


def test_every_failure_is_one_sentence(tmp_path: Path, labcrew) -> None:
    home = tmp_path / "home"
    for arguments, code in (
        (("worker",), 4),
        (("run", "nowhere.csv", "Predict x."), 3),
        (("run", str(tmp_path), "Predict x."), 3),
        (("run", "--url", "http://127.0.0.1:9", "--key", "lab_x", "Predict x."), 4),
        (("run", "--url", "http://127.0.0.1:9", "Predict x."), 3),
    ):
        done: subprocess.CompletedProcess[str] = labcrew(home, *arguments)
        assert done.returncode == code, (arguments, done.stderr)
        assert done.stderr.startswith("labcrew: "), done.stderr
        assert done.stderr.count("\n") == 1, done.stderr


def test_accounts_and_keys_work_without_a_running_service(home: Path, labcrew) -> None:
    assert (
        labcrew(home, "user", "add", "ada@example.com", "--password-stdin", stdin="correct horse\n").returncode
        == 0
    )
    key = labcrew(home, "key", "create", "ada@example.com").stdout.strip()
    assert key.startswith("lab_")
    assert key[:12] in labcrew(home, "key", "list", "ada@example.com").stdout
    assert labcrew(home, "key", "create", "nobody@example.com").returncode == 3
