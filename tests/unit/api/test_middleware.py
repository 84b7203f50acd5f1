from collections.abc import AsyncIterator

import httpx
import pytest
import structlog
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from app.api.server import middleware
from app.api.server.middleware import Envelope, is_too_deep

PASSWORD = "correct horse"


async def chunks(count: int, size: int) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield b"x" * size


async def test_a_declared_body_over_the_limit_is_not_read(client: httpx.AsyncClient) -> None:
    answer = await client.post("/echo", content=b"x" * 101)
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
    assert "100 bytes" in answer.json()["detail"]


async def test_a_body_that_hides_its_length_is_cut_at_the_limit(client: httpx.AsyncClient) -> None:
    answer = await client.post("/echo", content=chunks(11, 10))
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")


@pytest.mark.parametrize(("size", "status"), [(1000, 200), (1001, 413)])
async def test_a_path_may_have_a_limit_of_its_own(client: httpx.AsyncClient, size: int, status: int) -> None:
    assert (await client.post("/large/file", content=b"x" * size)).status_code == status
    assert (await client.post("/large/file", content=chunks(1, size))).status_code == status


async def test_a_request_keeps_the_id_that_it_came_with(client: httpx.AsyncClient) -> None:
    answer = await client.post("/echo", json={"password": PASSWORD}, headers={"X-Request-ID": "trace-0001"})
    assert answer.headers["x-request-id"] == "trace-0001"


@pytest.mark.parametrize("given", ["short", "x" * 65, "new line\\n", "<script>alert(1)"])
async def test_a_strange_request_id_is_replaced(client: httpx.AsyncClient, given: str) -> None:
    answer = await client.post("/echo", json={"password": PASSWORD}, headers={"X-Request-ID": given})
    assert len(answer.headers["x-request-id"]) == 32


async def test_every_answer_has_safe_headers(client: httpx.AsyncClient) -> None:
    headers = (await client.get("/missing")).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cache-control"] == "no-store"
    assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"


async def test_a_route_keeps_the_policy_that_it_chose(client: httpx.AsyncClient) -> None:
    headers = (await client.get("/page")).headers
    assert headers.get_list("content-security-policy") == ["default-src 'self'"]


async def test_the_log_has_the_request_and_nothing_that_the_user_sent(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A logger keeps the configuration of its first use, which may be that of a service started in this process.
    monkeypatch.setattr(middleware, "log", structlog.get_logger())
    with structlog.testing.capture_logs() as lines:
        await client.post("/echo?token=t0ken", json={"password": PASSWORD}, headers={"Authorization": "h3ader"})
    (line,) = [line for line in lines if line["event"] == "request"]
    assert (line["method"], line["route"], line["status"]) == ("POST", "/echo", 200)
    said = str(lines)
    assert not any(secret in said for secret in (PASSWORD, "t0ken", "h3ader"))


async def test_a_client_that_leaves_is_no_failure_of_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "log", structlog.get_logger())
    answers: list[Message] = []

    async def leave(scope: Scope, receive: Receive, send: Send) -> None:
        async for _ in Request(scope, receive).stream():
            raise AssertionError("nothing has arrived")

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        answers.append(message)

    scope = {"type": "http", "method": "POST", "path": "/", "headers": []}
    with structlog.testing.capture_logs() as lines:
        await Envelope(leave)(scope, receive, send)
    assert [line["event"] for line in lines] == ["client_left", "request"]
    assert not answers


@pytest.mark.parametrize(
    ("body", "deep"),
    [
        (b"[" * 40 + b"]" * 40, False),
        (b"[" * 41 + b"]" * 41, True),
        (b"[" * 100_000, True),
        (b'{"a":' * 50 + b"1" + b"}" * 50, True),
        (b"[" + b"[]," * 5000 + b"[]]", False),
        (b'["' + b"[" * 1000 + b'"]', False),
        (b'["\\"' + b"[" * 1000 + b'"]', False),
        (b'["\\\\", ' + b"[" * 60 + b"]" * 60 + b"]", True),
        (b"]" * 100, False),
        (b"", False),
        (('["\\"", ' + "[" * 60 + "]" * 60 + "]").encode("utf-16-le"), True),
        (('["\\"", ' + "[" * 30 + "]" * 30 + "]").encode("utf-32"), False),
    ],
)
def test_what_is_nested_too_deep_is_known_before_it_is_parsed(body: bytes, deep: bool) -> None:
    assert is_too_deep(body) is deep
