"""Whether a service runs on a data folder, seen from another process."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.connection.service_file import ServiceAddresses, publish_addresses, running_service

ADDRESSES = ServiceAddresses("http://127.0.0.1:1", "postgresql://", "redis://", os.getpid())

PUBLISH = """
import sys
from pathlib import Path
from app.cli.connection.service_file import ServiceAddresses, publish_addresses
with publish_addresses(Path(sys.argv[1]), ServiceAddresses("http://127.0.0.1:2", "", "", 2)):
    print("published", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    tmp_path.chmod(0o700)
    return tmp_path


def test_addresses_are_there_while_their_service_runs(home: Path) -> None:
    assert running_service(home) is None
    with publish_addresses(home, ADDRESSES):
        assert running_service(home) == ADDRESSES
        assert running_service(home) == ADDRESSES, "a look takes no lock away"
    assert running_service(home) is None
    assert not [*home.iterdir()]


def test_the_addresses_that_a_killed_service_left_are_never_read(home: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PUBLISH, str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline() == "published\n"
        assert running_service(home) == ServiceAddresses("http://127.0.0.1:2", "", "", 2)
        killed.send_signal(signal.SIGKILL)
    assert (home / "service.json").exists()
    assert running_service(home) is None
    with publish_addresses(home, ADDRESSES):
        assert running_service(home) == ADDRESSES
