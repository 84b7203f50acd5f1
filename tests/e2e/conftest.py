"""The whole service, as `labcrew up` starts it, in a process of its own."""

import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from tests.otlp import Collector, collecting
from tests.patience import HANG_GUARD_S, ended, wait_until

from app.cli.connection.service_file import ServiceAddresses, running_service
from app.servers.os_user import CALLER_ACCOUNT, launcher
from app.settings import Settings

PROGRAM = [sys.executable, "-m", "app.cli.program"]


def environment(home: Path, **settings: str) -> dict[str, str]:
    """This one with these settings of ours only, and with a data folder of its own."""
    names = {name.upper() for name in Settings.model_fields}
    environment = {name: value for name, value in os.environ.items() if name not in names}
    return {**environment, "LABCREW_HOME": str(home), "API_PORT": "0", **settings}


@dataclass
class Up:
    """A running `labcrew up`."""

    process: "subprocess.Popen[str]"
    home: Path
    addresses: ServiceAddresses
    output: Path
    """What it printed."""

    @property
    def api(self) -> str:
        return f"{self.addresses.api}/api/v1"

    def pid_of(self, part: str) -> int:
        """Return the process id of a part that `up` runs now, by the name of its pid file."""
        return int(next(self.home.rglob(f"{part}.pid")).read_text().split()[0])

    def wait_until_ready(self) -> None:
        """Wait for the workers too: the service is found as soon as its API is begun."""
        address = f"{self.addresses.api}/readyz"
        wait_until(lambda: self._answers(address), every_s=0.1)

    def _answers(self, address: str) -> bool:
        try:
            return httpx.get(address, params={"strict": 1}, timeout=HANG_GUARD_S).is_success
        except httpx.TransportError as error:
            code = self.process.poll()
            raise AssertionError(f"exit code {code}; it printed:\n{self.output.read_text()}") from error

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return ended(self.process)


def run_command(home: Path, *arguments: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*PROGRAM, *arguments],
        env=environment(home),
        cwd=home.parent,
        text=True,
        capture_output=True,
        timeout=HANG_GUARD_S,
        input=stdin,
    )


@pytest.fixture(scope="session")
def labcrew() -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Run one `labcrew` command with this data folder to its end."""
    return run_command


@pytest.fixture(scope="session")
def start_process() -> Callable[..., "subprocess.Popen[str]"]:
    """Start one `labcrew` command with this data folder, whose output goes to `up.txt` beside that."""
    return begin


def begin(home: Path, *arguments: str, **settings: str) -> "subprocess.Popen[str]":
    mortal = launcher(CALLER_ACCOUNT, None, signal.SIGTERM)  # it ends with pytest, however that ends
    with (home.parent / "up.txt").open("w") as file:
        return subprocess.Popen(
            [*mortal, *PROGRAM, *arguments],
            env=environment(home, **settings),
            cwd=home.parent,
            stdout=file,
            stderr=subprocess.STDOUT,
            text=True,
        )


def start(home: Path, **settings: str) -> Up:
    process, output = begin(home, "up", "--verbose", **settings), home.parent / "up.txt"
    wait_until(lambda: process.poll() is not None or running_service(home), every_s=0.05)
    addresses = running_service(home)
    assert addresses, f"the service ended before it was up:\n{output.read_text()}"
    return Up(process, home, addresses, output)


def stop(up: Up) -> None:
    if up.process.poll() is None:
        up.process.terminate()
    ended(up.process)


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """A data folder that is not there yet, with a short path."""
    # The service of a test that failed runs until the end of the session, and may still write there.
    with tempfile.TemporaryDirectory(prefix="labcrew-e2e-", ignore_cleanup_errors=True) as folder:
        yield Path(folder) / "home"


@pytest.fixture(scope="session")
def collector() -> Iterator[Collector]:
    """Gets the spans of every process."""
    with collecting() as collector:
        yield collector


@pytest.fixture(scope="session")
def up(collector: Collector) -> Iterator[Up]:
    """One service for the tests of all modules that ask for it, which costs seconds to start."""
    watched = {"METRICS_PORT": "0", "OTEL_EXPORTER_OTLP_ENDPOINT": collector.address}
    with tempfile.TemporaryDirectory(prefix="labcrew-e2e-") as folder:
        started = start(Path(folder) / "home", OTEL_BSP_SCHEDULE_DELAY="200", **watched)
        yield started
        stop(started)


@pytest.fixture(scope="session")
def start_up() -> Iterator[Callable[..., Up]]:
    """Start a service on a data folder. One that still runs at the end of the session is stopped."""
    started: list[Up] = []

    def start_noted(home: Path, **settings: str) -> Up:
        started.append(start(home, **settings))
        return started[-1]

    yield start_noted
    for up in started:
        stop(up)


@pytest.fixture
async def api(up: Up) -> AsyncIterator[httpx.AsyncClient]:
    """A new user, signed in with an access token."""
    login = {"email": f"user{random.randrange(10**9)}@example.com", "password": "correct horse battery"}
    async with httpx.AsyncClient(base_url=up.api, timeout=HANG_GUARD_S) as client:
        (await client.post("/auth/register", json=login)).raise_for_status()
        tokens = (await client.post("/auth/token", json=login)).raise_for_status().json()
        client.headers["Authorization"] = f"Bearer {tokens['access_token']}"
        yield client
