"""Clients that are slow, endless or not HTTP at all, against the real server."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvicorn
from fastapi import FastAPI
from starlette.responses import StreamingResponse
from tests.patience import hang_guard

from app.api.server import middleware
from app.api.server import protocols as server_protocols
from app.api.server.protocols import EdgeProtocol, EdgeSocketProtocol

from .conftest import PREFIX, User, client_of
from .test_stream import listening_server


@pytest.fixture
async def port(app: FastAPI) -> AsyncIterator[int]:
    async with listening_server(
        uvicorn.Config(app, http=EdgeProtocol, lifespan="off", log_config=None)
    ) as port:
        yield port


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def answer(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], dict[str, object]]:
    """Status, headers and body of what comes until the server closes or the body is whole."""
    async with hang_guard():
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {
            name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)
        }
        body = await reader.readexactly(int(headers["content-length"]))
    return int(head[0].split(" ")[1]), headers, json.loads(body)


async def gone(reader: asyncio.StreamReader) -> None:
    """The server has closed the connection."""
    async with hang_guard():
        try:
            await reader.read()
        except ConnectionError:
            return


async def test_a_head_that_never_ends_is_cut(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_protocols, "MAX_HEAD_S", 0.3)
    for sent in (b"", b"GET /healthz HTTP/1.1\r\nX-Slow: ", b"GET /healthz HTTP/1.1\r\nHost: lab\r\n"):
        async with connected(port) as (reader, writer):
            writer.write(sent)
            await gone(reader)


@pytest.mark.parametrize(
    "head",
    [
        b"GET /healthz HTTP/1.1\r\nHost: lab\r\nX-Large: " + b"x" * 40_000 + b"\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: lab\r\n" + b"X-Many: 0123456789\r\n" * 4000 + b"\r\n",
        b"GET /healthz?" + b"q" * 40_000 + b" HTTP/1.1\r\nHost: lab\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: lab\r\nX-Endless: " + b"x" * 80_000,
    ],
)
async def test_a_large_head_is_refused(port: int, head: bytes) -> None:
    async with connected(port) as (reader, writer):
        writer.write(head)
        status, headers, problem = await answer(reader)
        assert (status, problem["code"], headers["content-type"]) == (
            431,
            "head_too_large",
            "application/problem+json",
        )
        await gone(reader)


async def test_what_is_not_http_is_refused(port: int) -> None:
    async with connected(port) as (reader, writer):
        writer.write(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")
        status, _, problem = await answer(reader)
        assert (status, problem["code"]) == (400, "not_http")
        await gone(reader)


async def test_a_body_that_pauses_too_long_is_refused(
    port: int, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(middleware, "MAX_PAUSE_S", 0.3)
    async with connected(port) as (reader, writer):
        writer.write(_post(ada, "/lab/agent/sessions", 1000) + b'{"goal"')
        status, _, problem = await answer(reader)
        assert (status, problem["code"]) == (408, "too_slow")
        await gone(reader)


async def test_an_upload_that_trickles_is_refused_and_leaves_nothing(
    app: FastAPI, port: int, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(middleware, "MAX_PAUSE_S", 0.5)
    async with connected(port) as (reader, writer):
        writer.write(_post(ada, "/datasets?filename=slow.csv", 100_000))
        answered = asyncio.create_task(answer(reader))
        while not answered.done():
            writer.write(b"a,b\n")
            await asyncio.wait({answered}, timeout=0.1)  # clock: how often it trickles
        status, _, problem = answered.result()
        assert (status, problem["code"]) == (408, "too_slow")
    uploads = app.state.resources.settings.home / "uploads"
    assert list(uploads.iterdir()) == []
    assert (await ada.http.get("/datasets")).json()["total"] == 0


async def test_who_does_not_read_the_answer_is_cut(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    cut = asyncio.Event()

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * (1 << 20)

    async def flood() -> StreamingResponse:
        return StreamingResponse(endless())

    class Transport(EdgeProtocol):
        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            cut.set()

    app.add_api_route("/flood", flood)
    await client_of(app).get("/healthz")
    monkeypatch.setattr(_patience(app), "send_s", 0.5)
    config = uvicorn.Config(app, http=Transport, lifespan="off", log_config=None)
    async with listening_server(config) as port, connected(port) as (_, writer):
        writer.write(b"GET /flood HTTP/1.1\r\nHost: lab\r\n\r\n")
        async with hang_guard():
            await cut.wait()


@pytest.mark.parametrize("depth", [50, 500, 100_000])
async def test_a_body_nested_too_deep_is_refused(ada: User, depth: int) -> None:
    body = '{"answer": ' + "[" * depth + "]" * depth + "}"
    answered = await ada.http.post(
        "/lab/agent/sessions/00000000-0000-4000-8000-000000000000/respond",
        content=body,
        headers={"Content-Type": "application/json"},
    )
    assert (answered.status_code, answered.json()["code"]) == (400, "json_too_deep")


@pytest.mark.parametrize(
    "kinds",
    [["application/JSON"], ["application/vnd.lab+Json"], ["application/json", "text/plain"]],
    ids=["capitals", "another kind of JSON", "two content types"],
)
async def test_a_body_nested_too_deep_is_refused_however_its_content_type_is_spelled(
    ada: User, kinds: list[str]
) -> None:
    answered = await ada.http.post(
        "/lab/agent/sessions/00000000-0000-4000-8000-000000000000/respond",
        content='{"answer": ' + "[" * 50 + "]" * 50 + "}",
        headers=[("Content-Type", kind) for kind in kinds],
    )
    assert (answered.status_code, answered.json()["code"]) == (400, "json_too_deep")


HANDSHAKE = (
    " /api/v1/lab/agent/sessions/00000000-0000-4000-8000-000000000000/stream HTTP/1.1\r\nHost: lab\r\n"
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


@pytest.mark.parametrize(
    "request_head",
    [f"GET{HANDSHAKE}Content-Length: 5\r\n\r\nhello", f"GET{HANDSHAKE}" + "X-More: 1\r\n" * 200 + "\r\n"],
    ids=["a body", "more headers than a handshake may have"],
)
async def test_a_handshake_that_cannot_be_read_is_refused_and_its_connection_ends(
    app: FastAPI, request_head: str
) -> None:
    config = uvicorn.Config(app, http=EdgeProtocol, ws=EdgeSocketProtocol, lifespan="off", log_config=None)
    async with listening_server(config) as port, connected(port) as (reader, writer):
        writer.write(request_head.encode())
        status, _, body = await answer(reader)
        assert (status, body["code"]) == (400, "not_websocket")
        await gone(reader)


def _post(user: User, path: str, length: int) -> bytes:
    head = [
        f"POST {PREFIX}{path} HTTP/1.1",
        "Host: lab",
        f"Authorization: Bearer {user.tokens['access_token']}",
        "Content-Type: application/json" if "datasets" not in path else "Content-Type: text/csv",
        f"Content-Length: {length}",
    ]
    return ("\r\n".join(head) + "\r\n\r\n").encode()


def _patience(app: FastAPI) -> middleware.SlowClientMiddleware:
    layer = app.middleware_stack
    while not isinstance(layer, middleware.SlowClientMiddleware):
        layer = layer.app  # type: ignore[union-attr]  # each layer holds the next
    return layer
