"""Figures of a process that serves nothing else."""

from collections.abc import Iterator

import httpx
import pytest
from tests.patience import HANG_GUARD_S

from app.errors import Conflict
from app.observability.metrics.exposition import exposition
from app.observability.metrics.metrics_server import is_loopback, open_socket, serve_metrics


@pytest.fixture
def address() -> Iterator[str]:
    listening = open_socket("127.0.0.1", 0)
    host, port = listening.getsockname()
    with serve_metrics(listening, exposition, "figures"):
        yield f"http://{host}:{port}"
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://{host}:{port}/metrics", timeout=HANG_GUARD_S)


def test_only_metrics_are_served_and_only_with_the_token(address: str) -> None:
    token = {"Authorization": "Bearer figures"}
    http = httpx.Client(base_url=address, timeout=HANG_GUARD_S)
    shown = http.get("/metrics", headers=token)
    assert shown.status_code == 200
    assert shown.headers["content-type"].startswith("text/plain; version=")
    assert "# TYPE labcrew_sessions_ended_total counter" in shown.text
    assert "process_resident_memory_bytes" in shown.text
    assert http.get("/metrics").status_code == 401
    assert http.get("/metrics", headers={"Authorization": "Bearer figure"}).status_code == 401
    assert http.get("/", headers=token).status_code == 404
    assert http.post("/metrics", headers=token).status_code == 501
    http.close()


def test_a_port_in_use_is_refused_with_instructions() -> None:
    with open_socket("127.0.0.1", 0) as taken, pytest.raises(Conflict, match="METRICS_PORT"):
        open_socket("127.0.0.1", taken.getsockname()[1])


@pytest.mark.parametrize(
    ("host", "token", "status"),
    [
        ("127.0.0.1", None, 200),
        ("localhost", None, 200),
        ("::1", None, 200),
        ("0.0.0.0", None, 401),
        ("::", None, 401),
        ("0.0.0.0", "figures", 200),
    ],
)
def test_without_a_token_only_loopback_is_answered(host: str, token: str | None, status: int) -> None:
    listening = open_socket(host, 0)
    port = listening.getsockname()[1]
    headers = {"Authorization": f"Bearer {token}"} if token else {"Authorization": "Bearer None"}
    with serve_metrics(listening, exposition, token):
        reached = "[::1]" if ":" in host else "127.0.0.1"
        answer = httpx.get(f"http://{reached}:{port}/metrics", headers=headers, timeout=HANG_GUARD_S)
        assert answer.status_code == status


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.8.8.8", True), ("::ffff:127.0.0.1", True), ("fe80::1%eth0", False), ("10.0.0.1", False)],
)
def test_loopback_is_told_by_address(host: str, loopback: bool) -> None:
    assert is_loopback(host) == loopback
