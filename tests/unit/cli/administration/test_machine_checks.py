import json
import os
import socket
import threading
from collections.abc import Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from app.cli.administration import machine_checks
from app.cli.connection.service_file import ServiceAddresses, publish_addresses
from app.errors import Unavailable
from app.sandbox.kernel import landlock
from app.settings import Settings, load_settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(_env_file=None, labcrew_home=tmp_path / "not" / "there", sandbox_provider="docker")


async def test_every_check_of_a_sound_machine_says_what_is_well(settings: Settings) -> None:
    free = settings.model_copy(update={"api_port": 0})
    for check in machine_checks.MACHINE.values():
        assert await check(free)


async def test_a_taken_port_is_named(settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(Unavailable, match=f"{port} .*set API_PORT"):
            await machine_checks.MACHINE["port"](settings.model_copy(update={"api_port": port}))


READINESS: dict[str, Any] = {"status": "ready", "degraded": {"metrics": "none"}, "untrusted_code": {}}


@pytest.fixture
def readiness() -> dict[str, Any]:
    return READINESS


@pytest.fixture
def api(readiness: dict[str, Any]) -> Iterator[HTTPServer]:
    class Api(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            assert self.path == "/readyz?strict=1"
            is_ready = readiness["status"] == "ready"
            self.send_response(HTTPStatus.OK if is_ready else HTTPStatus.SERVICE_UNAVAILABLE)
            self.end_headers()
            self.wfile.write(json.dumps(readiness).encode())

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Api) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        yield server


async def test_a_port_where_an_api_answers_is_well(settings: Settings, api: HTTPServer) -> None:
    taken = settings.model_copy(update={"api_host": "0.0.0.0", "api_port": api.server_port})
    assert await machine_checks.MACHINE["port"](taken) == f"0.0.0.0:{api.server_port} is an API of Labcrew"


async def test_the_port_of_a_running_service_is_the_one_that_it_serves(
    tmp_path: Path, settings: Settings, api: HTTPServer
) -> None:
    settings = settings.model_copy(update={"labcrew_home": tmp_path})
    address = f"127.0.0.1:{api.server_port}"
    with publish_addresses(tmp_path, ServiceAddresses(f"http://{address}", "", "", os.getpid())):
        assert await machine_checks.MACHINE["port"](settings) == f"{address} is this service's, which is ready"
    with (
        publish_addresses(tmp_path, ServiceAddresses("http://127.0.0.1:1", "", "", os.getpid())),
        pytest.raises(Unavailable, match=r"does not answer at http://127\.0\.0\.1:1"),
    ):
        await machine_checks.MACHINE["port"](settings)


@pytest.mark.parametrize(
    ("readiness", "words"),
    [
        ({**READINESS, "status": "limited", "degraded": {"workers": "No worker."}}, "is limited: No worker."),
        (
            {**READINESS, "status": "not_ready", "degraded": {}, "unavailable": {"redis": "Redis is away."}},
            "is not ready: Redis is away.",
        ),
    ],
)
async def test_a_service_that_is_not_ready_is_named_with_its_reasons(
    tmp_path: Path, settings: Settings, api: HTTPServer, words: str
) -> None:
    settings = settings.model_copy(update={"labcrew_home": tmp_path})
    address = f"127.0.0.1:{api.server_port}"
    with (
        publish_addresses(tmp_path, ServiceAddresses(f"http://{address}", "", "", os.getpid())),
        pytest.raises(Unavailable, match=f"The service at {address} {words}"),
    ):
        await machine_checks.MACHINE["port"](settings)


async def test_a_full_disk_says_how_much_is_wanted(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_checks, "MIN_FREE_BYTES", 1 << 60)
    with pytest.raises(Unavailable, match="free some, or set LABCREW_HOME"):
        await machine_checks.MACHINE["disk"](settings)


async def test_a_kernel_without_landlock_says_what_to_do(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landlock, "abi", lambda: 0)
    with pytest.raises(Unavailable, match=r"no Landlock.*5\.13"):
        await machine_checks.MACHINE["kernel"](settings)


def test_a_container_elsewhere_writes_only_there(settings: Settings, tmp_path: Path) -> None:
    moved = machine_checks.elsewhere(settings.cells, tmp_path)
    assert moved.container is not None
    assert (moved.scratch, moved.container.scratch) == (tmp_path / "scratch", tmp_path / "scratch")
    assert moved.container.blobs == settings.home / "blobs"
