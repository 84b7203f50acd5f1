"""Requests to a real server on loopback: bounded, checked at each redirect, repeated where that may help."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from app.errors import LabError
from app.workflows.requests.client import MAX_ANSWER_BYTES, OutgoingRequest, RequestClient
from app.workflows.requests.host_rules import HostRules
from app.workflows.requests.passing import PassingFailure

PACKED = {
    "/bomb": gzip.compress(bytes(MAX_ANSWER_BYTES + 1)),
    "/packed": gzip.compress(b'{"packed": 1}'),
    "/members": gzip.compress(b"[1") + gzip.compress(b",2]"),
    "/tail": gzip.compress(b"[1]") + bytes(MAX_ANSWER_BYTES),
    "/halved": gzip.compress(b'{"packed": 1}')[:-4],
    "/broken": b"no gzip",
}
"""Answers that say that they are compressed."""


@dataclass
class Server:
    """A server that answers by path, and notes what it was sent."""

    port: int = 0
    heads: list[str] = field(default_factory=list)
    other_port: int = 0
    answering: set[asyncio.Task[None]] = field(default_factory=set)

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self.answering.add(task)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.heads.append(head)
            await self._write(head.split(" ")[1].partition("?")[0], writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.answering.discard(task)
            writer.close()

    async def _write(self, path: str, writer: asyncio.StreamWriter) -> None:
        if path == "/endless":
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                writer.write(bytes(1 << 16))
                await writer.drain()
        if path == "/silent":
            await asyncio.Event().wait()
        if path == "/cut":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
            return
        status, headers, content = self._respond(path)
        lines = [f"HTTP/1.1 {status} x", f"Content-Length: {len(content)}", "Connection: close", *headers]
        writer.write("\r\n".join([*lines, "", ""]).encode() + content)
        await writer.drain()

    def _respond(self, path: str) -> tuple[int, Sequence[str], bytes]:
        tries = sum(f" {path} " in head or f" {path}?" in head for head in self.heads)
        redirects = {
            "/private": "http://10.0.0.1/",
            "/metadata": "http://169.254.169.254/latest/",
            "/loop": "/loop",
            "/moved": "/prices",
            "/away": f"http://other.example.com:{self.port}/prices",
            "/file": "file:///etc/passwd",
            "/crooked": "https://[bad",
            "/beside": f"http://api.example.com:{self.other_port}/prices",
        }
        if path in redirects:
            return 302, [f"Location: {redirects[path]}"], b""
        if path in PACKED:
            return 200, ["Content-Encoding: gzip"], PACKED[path]
        if path == "/brotli":
            return 200, ["Content-Encoding: br"], b"x"
        if path == "/busy" and tries < 3:
            return 429, ["Retry-After: 7"], b""
        if path == "/patient":
            return 503, ["Retry-After: 86400"], b""
        if path == "/odd":
            return 503, ["Retry-After: \u00b2"], b""
        if path == "/missing":
            return 404, [], b""
        return 200, ["Content-Type: application/json"], json.dumps([{"price": 1}]).encode()


@asynccontextmanager
async def serving() -> AsyncIterator[Server]:
    server = Server()
    listener = await asyncio.start_server(server.answer, "127.0.0.1", 0)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        # One of them waits for ever; cut off by the end of the loop it would leave its connection open.
        answering = [*server.answering]
        for task in answering:
            task.cancel()
        await asyncio.gather(*answering, return_exceptions=True)


def client_of(server: Server, names: Sequence[Sequence[str]] = (("127.0.0.1",),)) -> RequestClient:
    """A client whose names resolve to each answer in turn, the last for ever."""
    hosts = [f"127.0.0.1:{server.port}", "api.example.com", "other.example.com"]
    answers = list(names)

    async def resolve(host: str, port: int) -> Sequence[str]:
        return answers.pop(0) if len(answers) > 1 else answers[0]

    return RequestClient(HostRules(hosts, hosts), resolve)


async def test_answers_are_read_and_refused_by_their_bounds() -> None:
    expected = {
        "/prices": "",
        "/moved": "",
        "/packed": "",
        "/private": "host_not_allowed",
        "/metadata": "host_not_allowed",
        "/file": "url_invalid",
        "/crooked": "redirect_unreadable",
        "/odd": "request_failed",
        "/loop": "too_many_redirects",
        "/endless": "answer_too_large",
        "/bomb": "answer_too_large",
        "/broken": "answer_unreadable",
        "/members": "",
        "/tail": "answer_unreadable",
        "/halved": "answer_unreadable",
        "/brotli": "answer_unreadable",
        "/cut": "request_failed",
        "/missing": "request_failed",
        "/patient": "request_failed",
    }
    async with serving() as server:
        client = client_of(server)
        codes = {}
        for path in expected:
            try:
                answer = await client.send(OutgoingRequest("GET", server.url(path)))
            except LabError as error:
                codes[path] = error.code
            else:
                codes[path] = ""
                assert json.loads(answer.content)
    assert codes == expected
    assert sum("GET /loop " in head for head in server.heads) == 6


async def test_what_may_pass_says_so_and_how_long_to_wait() -> None:
    async with serving() as server:
        client = client_of(server)
        failures = {"/busy": 7.0, "/patient": 86_400.0, "/odd": 0.0, "/silent": None, "/cut": None}
        for path, wait_s in failures.items():
            # clock: the time limit of the request itself
            request = OutgoingRequest("GET", server.url(path), timeout_s=0.2 if path == "/silent" else 30)
            with pytest.raises(PassingFailure) as failure:
                await client.send(request)
            assert failure.value.wait_s == wait_s, path
        with pytest.raises(LabError) as missing:
            await client.send(OutgoingRequest("GET", server.url("/missing")))
        assert not isinstance(missing.value, PassingFailure)
        assert sum("GET /busy " in head for head in server.heads) == 1, "it sends once"


async def test_what_http_cannot_carry_is_refused_in_a_sentence_without_its_text() -> None:
    async with serving() as server:
        client = client_of(server)
        url = server.url("/prices")
        requests = {
            "header_not_ascii": OutgoingRequest("GET", url, secret_headers={"X-Key": "pässword"}),
            "request_unwritable": OutgoingRequest("GET", f"{url}?key=\ud800password"),
        }
        for code, request in requests.items():
            with pytest.raises(LabError) as refused:
                await client.send(request)
            assert refused.value.code == code
            assert "ssword" not in refused.value.detail
        assert server.heads == []


@pytest.mark.parametrize("host", ["api..example.com", f"{'a' * 64}.example.com"])
async def test_a_name_that_no_resolver_takes_is_unknown(host: str) -> None:
    client = RequestClient(HostRules([host], [host]))
    with pytest.raises(LabError) as refused:
        await client.send(OutgoingRequest("GET", f"https://{host}/"))
    assert refused.value.code == "host_unknown"


async def test_compressed_streams_that_follow_each_other_are_one_answer() -> None:
    async with serving() as server:
        client = client_of(server)
        assert (await client.send(OutgoingRequest("GET", server.url("/members")))).content == b"[1,2]"


async def test_the_checked_address_is_the_one_that_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that changes its address between check and connect, and a proxy of the environment,
    change nothing."""
    monkeypatch.setenv("HTTP_PROXY", "http://10.0.0.1:1")
    async with serving() as server:
        client = client_of(server, [["127.0.0.1"], ["10.0.0.1"]])
        answer = await client.send(OutgoingRequest("GET", server.url("/prices", "api.example.com")))
        assert answer.status == 200
        assert f"Host: api.example.com:{server.port}\r\n" in server.heads[0]
        client = client_of(server, [["127.0.0.1", "10.0.0.1"]])
        with pytest.raises(LabError) as refusal:
            await client.send(OutgoingRequest("GET", server.url("/prices", "api.example.com")))
        assert (refusal.value.code, len(server.heads)) == ("address_refused", 1)


async def test_parameters_come_beside_those_of_the_url() -> None:
    async with serving() as server:
        client = client_of(server)
        url = server.url("/prices?city=Wien&page=1")
        await client.send(OutgoingRequest("GET", url, params={"page": "2", "sort": "a b"}))
        assert server.heads[0].split(" ")[1] == "/prices?city=Wien&page=2&sort=a+b"


async def test_headers_of_a_request_stay_with_its_origin_at_a_redirect() -> None:
    async with serving() as server, serving() as other:
        server.other_port = other.port
        hosts = ["api.example.com", "127.0.0.1"]

        async def resolve(host: str, port: int) -> Sequence[str]:
            return ["127.0.0.1"]

        client = RequestClient(HostRules([*hosts, "127.0.0.1"], hosts), resolve)
        headers = {"X-Api-Key": "key of the author", "Accept-Language": "de"}
        for path in ("/moved", "/beside"):
            url = server.url(path, "api.example.com")
            await client.send(OutgoingRequest("GET", url, headers=headers, secret_headers={"X-Key": "hidden"}))
        for head in server.heads:
            assert "key of the author" in head
            assert "hidden" in head
        (head,) = other.heads
        assert "key of the author" not in head
        assert "hidden" not in head
        assert "Accept-Language: de" in head


async def test_a_secret_goes_to_the_first_host_only_and_into_no_error() -> None:
    async with serving() as server:
        client = client_of(server)
        secret = {"Authorization": "Bearer hidden"}
        for path in ("/moved", "/away"):
            url = server.url(f"{path}?token=hidden", "api.example.com")
            await client.send(OutgoingRequest("GET", url, secret_headers=secret))
        sent = ["Bearer hidden" in head for head in server.heads]
        assert sent == [True, True, True, False]
        with pytest.raises(LabError) as refusal:
            await client.send(
                OutgoingRequest("GET", server.url("/missing?token=hidden"), secret_headers=secret)
            )
        assert "hidden" not in f"{refusal.value} {refusal.value.facts}"
