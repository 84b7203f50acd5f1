"""Answers of several pages, over the real API: a local server by link, number and cursor, within bounds."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from app.settings import Settings
from app.workflows.node_configs import MAX_PAGES
from app.workflows.runs import answer_pages

from .conftest import User
from .test_workflow_runs import run

pytestmark = pytest.mark.usefixtures("worker", "ready")
HIDDEN = "hidden-token"
PAGE_COUNT = 3
"""Pages of an answer that ends."""


@dataclass
class PagedServer:
    """A server whose records are their numbers. `heads`: of the requests that came."""

    heads: list[str] = field(default_factory=list)
    other: str = ""
    url: str = ""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer), contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            lengths = [line[15:] for line in head.lower().split("\r\n") if line.startswith("content-length")]
            body = await reader.readexactly(int(lengths[0]) if lengths else 0)
            self.heads.append(head)
            place = urlsplit(head.split(" ")[1])
            asked = {name: values[-1] for name, values in parse_qs(place.query).items()}
            if place.path == "/silent" and "page" in asked:
                await reader.read()  # until the client gives up
                return
            status, headers, content = self._respond(place.path, asked | (json.loads(body) if body else {}))
            text = json.dumps(content).encode()
            lines = [f"HTTP/1.1 {status} x", f"Content-Length: {len(text)}", "Connection: close", *headers]
            writer.write("\r\n".join([*lines, "", ""]).encode() + text)
            await writer.drain()

    def _respond(self, path: str, asked: dict[str, Any]) -> tuple[int, list[str], Any]:
        number = int(asked.get("page", asked.get("after", 1)))
        records = [{"n": 2 * number - 1}, {"n": 2 * number}]
        is_last = number == PAGE_COUNT
        address = f"{path}?page={number + 1}"
        if path == "/header":
            return 200, [] if is_last else [f'Link: <{address}>; rel="next", </>; rel="first"'], records
        if path == "/numbers":
            return 200, [], {"data": records if number <= PAGE_COUNT else [], "page": number}
        if path == "/ended":
            return (200, [], records) if number <= PAGE_COUNT else (404, [], {"detail": "Invalid page."})
        if path == "/missing":
            return 404, [], {}
        if path == "/same":
            return 200, [], {"data": [{"n": 1}], "at": len(self.heads)}
        if path == "/broken" and is_last:
            return 500, [], {}
        if path == "/itself":
            return 200, [], {"data": records, "next": f"{path}?page={min(number + 1, 2)}"}
        leading = {"/private": "http://10.0.0.1/prices", "/elsewhere": f"{self.other}/links?page=2"}
        if path in leading:
            return 200, [], {"data": records, "next": leading[path]}
        following: Any = number + 1 if path == "/cursors" else address
        return 200, [], {"data": records, "next": None if is_last and path != "/endless" else following}


@pytest.fixture
async def paged_servers() -> AsyncIterator[list[PagedServer]]:
    paged_servers = [PagedServer(), PagedServer()]
    listeners = [await asyncio.start_server(server.answer, "127.0.0.1", 0) for server in paged_servers]
    for server, listener in zip(paged_servers, listeners, strict=True):
        server.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    paged_servers[0].other = paged_servers[1].url
    yield paged_servers
    for listener in listeners:
        listener.close()


@pytest.fixture
def server(paged_servers: list[PagedServer]) -> PagedServer:
    return paged_servers[0]


@pytest.fixture
def settings(settings: Settings, paged_servers: list[PagedServer]) -> Settings:
    hosts = tuple(server.url.removeprefix("http://") for server in paged_servers)
    return settings.model_copy(update={"http_allowed_hosts": hosts})


@pytest.fixture
async def ready(ada: User, paged_servers: list[PagedServer]) -> None:
    hosts = {"hosts": [server.url.removeprefix("http://") for server in paged_servers]}
    assert (await ada.http.put("/request-hosts", json=hosts)).status_code == 200
    assert (await ada.http.put("/secrets/token", json={"value": HIDDEN})).status_code == 200


async def fetch(ada: User, server: PagedServer, path: str, **config: Any) -> dict[str, Any]:
    """Run a workflow of one request and a figure of its table, and return the result of the request."""
    request = {"url": f"{server.url}{path}", "retries": 0, **config}
    nodes = [
        {"id": "rows", "type": "http_request", "config": request},
        {"id": "total", "type": "sql", "config": {"sql": "SELECT count(*) AS rows, sum(n) AS total FROM rows"}},
    ]
    content = {"name": "Pages", "nodes": nodes, "edges": [{"from": "rows", "to": "total"}]}
    saved = await ada.http.post("/workflows", json=content)
    assert saved.status_code == 201, saved.text
    ended = await run(ada, f"/workflows/{saved.json()['id']}")
    result: dict[str, Any] = ended["nodes"]["rows"]
    if result["status"] == "done":
        assert ended["nodes"]["total"]["preview"][0][0] == result["rows"]
    return result


@pytest.mark.parametrize(
    ("path", "pages", "config"),
    [
        ("/links", {"by": "link", "next": "/next"}, {}),
        ("/links", {"by": "link", "next": "/next"}, {"records": "/data"}),
        ("/header", {"by": "link"}, {}),
        ("/numbers", {"by": "number", "param": "page"}, {}),
        ("/ended", {"by": "number", "param": "page"}, {}),
        ("/cursors", {"by": "cursor", "next": "/next", "param": "after"}, {}),
        (
            "/cursors",
            {"by": "cursor", "next": "/next", "param": "after"},
            {"method": "POST", "json": {"query": "all"}},
        ),
    ],
)
async def test_all_pages_are_one_table(
    ada: User, server: PagedServer, path: str, pages: dict[str, Any], config: dict[str, Any]
) -> None:
    result = await fetch(ada, server, path, pages=pages, secret="token", **config)
    assert (result["status"], result["rows"], result["notes"]) == ("done", 2 * PAGE_COUNT, []), result
    assert [row[0] for row in result["preview"]] == [1, 2, 3, 4, 5, 6]
    assert all(HIDDEN in head for head in server.heads)
    keys = [line for head in server.heads for line in head.split("\r\n") if line.startswith("Idempotency-Key")]
    assert len(keys) == len(set(keys)) == (PAGE_COUNT if config.get("method") == "POST" else 0)


@pytest.mark.parametrize(("path", "member"), [("/links", "`next`"), ("/header", "`Link: rel=next`")])
async def test_an_answer_that_names_a_next_page_says_so_where_no_pages_are_read(
    ada: User, server: PagedServer, path: str, member: str
) -> None:
    result = await fetch(ada, server, path)
    assert result["rows"] == 2
    assert member in result["notes"][0]
    assert (await fetch(ada, server, f"{path}?page={PAGE_COUNT}"))["notes"] == []


async def test_a_table_ends_at_the_last_page_that_is_asked_for(ada: User, server: PagedServer) -> None:
    pages = {"by": "link", "next": "/next", "max_pages": 2}
    result = await fetch(ada, server, "/endless", pages=pages)
    assert (result["rows"], len(server.heads)) == (4, 2)
    assert "page 2" in result["notes"][0]
    misplaced = await fetch(ada, server, "/links", pages={"by": "link", "next": "/links/next"})
    assert misplaced["rows"] == 2
    assert "`next`" in misplaced["notes"][0]


async def test_endless_pages_end_at_a_bound(ada: User, server: PagedServer) -> None:
    result = await fetch(ada, server, "/endless", pages={"by": "link", "next": "/next", "timeout_s": 600})
    assert (result["status"], result["code"]) == ("failed", "too_many_pages"), result
    assert len(server.heads) == MAX_PAGES


@pytest.mark.parametrize(
    ("path", "pages", "code", "request_count", "words"),
    [
        ("/itself", {"by": "link", "next": "/next"}, "pages_repeat", 2, "Page 2: "),
        ("/same", {"by": "number", "param": "page"}, "pages_repeat", 2, "Page 2: "),
        ("/broken", {"by": "link", "next": "/next"}, "request_failed", 3, "Page 3: 127.0.0.1 answers with "),
        (
            "/missing",
            {"by": "number", "param": "page"},
            "request_failed",
            1,
            "127.0.0.1 answers with status 404",
        ),
        ("/private", {"by": "link", "next": "/next"}, "host_not_allowed", 1, "Page 2: "),
    ],
)
async def test_pages_that_cannot_be_read_fail_by_their_number(
    ada: User,
    server: PagedServer,
    path: str,
    pages: dict[str, Any],
    code: str,
    request_count: int,
    words: str,
) -> None:
    result = await fetch(ada, server, path, pages=pages)
    assert (result["status"], result["code"]) == ("failed", code), result
    assert result["error"].startswith(words)
    assert len(server.heads) == request_count


async def test_all_pages_together_have_bounds_of_time_and_size(
    ada: User, server: PagedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # clock: the time limit of the pages themselves
    pages = {"by": "link", "next": "/next", "timeout_s": 1}
    result = await fetch(ada, server, "/silent", pages=pages)
    assert (result["code"], "within 1 s" in result["error"]) == ("request_timed_out", True), result
    monkeypatch.setattr(answer_pages, "MAX_PAGES_BYTES", 100)
    result = await fetch(ada, server, "/endless", pages={"by": "link", "next": "/next"})
    assert result["code"] == "answer_too_large", result


async def test_a_page_of_another_host_is_asked_for_without_the_secret(
    ada: User, paged_servers: list[PagedServer]
) -> None:
    first, other = paged_servers
    headers = {"X-Api-Key": "key of the author"}
    pages = {"by": "link", "next": "/next"}
    result = await fetch(ada, first, "/elsewhere", pages=pages, secret="token", headers=headers)
    assert (result["status"], result["rows"]) == ("done", 6), result
    assert [HIDDEN in head and "key of the author" in head for head in first.heads] == [True]
    assert len(other.heads) == 2
    assert not any(HIDDEN in head or "key of the author" in head for head in other.heads)


async def test_pages_are_checked_when_a_workflow_is_saved(ada: User, server: PagedServer) -> None:
    refused = [{"by": "cursor", "param": "after"}, {"by": "number"}, {"by": "link", "max_pages": MAX_PAGES + 1}]
    for pages in refused:
        node = {"id": "rows", "type": "http_request", "config": {"url": server.url, "pages": pages}}
        saved = await ada.http.post("/workflows", json={"name": "Pages", "nodes": [node], "edges": []})
        assert saved.status_code == 422, saved.text
