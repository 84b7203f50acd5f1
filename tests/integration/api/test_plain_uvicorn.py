"""`uvicorn app.main:app`, as a user of uvicorn starts it: it imports, serves, and ends with streams open."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.patience import HANG_GUARD_S, ended, wait_until

LOGIN = {"email": "ada@example.com", "password": "correct horse battery"}


@pytest.fixture(params=[(), ("--workers", "2"), ("--reload",)], ids=["one", "workers", "reload"])
def server(
    request, database_url: str, redis_url: str, tmp_path: Path
) -> Iterator[tuple[str, subprocess.Popen]]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    settings = {"DATABASE_URL": database_url, "REDIS_URL": redis_url, "LABCREW_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-m", "uvicorn", "app.main:app", "--port", str(port), *request.param]
    process = subprocess.Popen(command, env={**os.environ, **settings}, cwd=tmp_path, start_new_session=True)
    url = f"http://127.0.0.1:{port}"
    wait_until(lambda: process.poll() is not None or _answers(url), every_s=0.1)
    yield url, process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    ended(process)


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", timeout=HANG_GUARD_S).status_code < 500
    except httpx.TransportError:
        return False


def test_an_open_stream_does_not_keep_it_from_ending(server) -> None:
    url, process = server
    with httpx.Client(base_url=f"{url}/api/v1", timeout=HANG_GUARD_S) as client:
        client.post("/auth/register", json=LOGIN).raise_for_status()
        token = client.post("/auth/token", json=LOGIN).json()["access_token"]
        client.headers["Authorization"] = f"Bearer {token}"
        file = {"file": ("t.csv", "a,b\n1,2\n")}
        body = {"goal": "Describe the table.", "dataset_ids": []}
        upload = client.post("/datasets", files=file)
        if upload.is_success:  # without cells an upload is refused, and the session has no data
            body["dataset_ids"] = [upload.json()["id"]]
        session = client.post("/lab/agent/sessions", json=body).raise_for_status().json()["id"]
        with client.stream("GET", f"/lab/agent/sessions/{session}/events") as stream:
            lines = stream.iter_lines()
            assert next(lines) == "retry: 1000"
            process.terminate()
            for _ in lines:  # the server ends the stream, which raises nothing
                pass
    assert ended(process) in {0, -signal.SIGTERM}
