"""Whole workflows over the real API: requests to a local server, conditions, approvals and messages."""

import asyncio
import contextlib
import io
import json
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

import pytest
from fastapi import FastAPI
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tests.patience import hang_guard

from app.observability.logging import configure_logging
from app.observability.otlp_exporter import provider
from app.observability.tracing import use_tracer
from app.settings import Settings

from .conftest import User

HIDDEN = "hidden-token"


class Outside:
    """A server with prices, and a webhook that keeps what it gets.

    It refuses every other request to `/busy`, and to `/limited`, where it asks to wait for ten minutes. A POST
    is counted by its key. At `/echo` its only row repeats the credential of the request.
    """

    def __init__(self) -> None:
        self.prices: list[float] = [400, 120, 80]
        self.heads: list[str] = []
        self.messages: list[dict[str, Any]] = []
        self.url = ""
        self.counts = Counter[str]()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request. A worker that is killed may connect without sending one."""
        with contextlib.closing(writer), contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            await self._answer(reader, writer)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = int(
            next((line[15:] for line in head.lower().split("\r\n") if line.startswith("content-length")), 0)
        )
        body = await reader.readexactly(length)
        self.heads.append(head)
        if head.startswith("POST"):
            self.messages.append(json.loads(body))
        flights = [{"city": {"name": f"City {n}"}, "price": price} for n, price in enumerate(self.prices)]
        if " /echo " in head:
            told = next(line for line in head.split("\r\n") if line.startswith("Authorization"))
            flights = [{"city": {"name": told}, "price": 1}]
        status = self._choose_status(head)
        content = json.dumps({"flights": flights}).encode()
        writer.write(
            f"HTTP/1.1 {status}\r\nContent-Length: {len(content)}\r\nConnection: close\r\n\r\n".encode()
            + content,
        )
        await writer.drain()

    def _choose_status(self, head: str) -> str:
        """Return the first line behind the version, with a header where one belongs to it."""
        path = head.split(" ")[1]
        key = next((line for line in head.lower().split("\r\n") if line.startswith("idempotency-key")), path)
        self.counts[key] += 1
        is_refused = self.counts[key] % 2 == 1
        if path == "/broken":
            return "500 x"
        if path == "/busy" and is_refused:
            return "503 x"
        if path == "/limited" and is_refused:
            return "429 x\r\nRetry-After: 600"
        return "200 OK"


@pytest.fixture
async def outside() -> AsyncIterator[Outside]:
    outside = Outside()
    server = await asyncio.start_server(outside.answer, "127.0.0.1", 0)
    outside.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    yield outside
    server.close()


@pytest.fixture
def settings(settings: Settings, outside: Outside) -> Settings:
    return settings.model_copy(update={"http_allowed_hosts": (outside.url.removeprefix("http://"),)})


@pytest.fixture
async def ready(ada: User, outside: Outside) -> None:
    hosts = {"hosts": [outside.url.removeprefix("http://")]}
    assert (await ada.http.put("/request-hosts", json=hosts)).status_code == 200
    for name, value in (("token", HIDDEN), ("ops", f"{outside.url}/hooks/{HIDDEN}")):
        assert (await ada.http.put(f"/secrets/{name}", json={"value": value})).status_code == 200


def flights_workflow(outside: Outside) -> dict[str, Any]:
    cheap = {
        "kind": "compare",
        "op": "<",
        "left": {"kind": "column", "name": "price"},
        "right": {"kind": "literal", "value": 300},
    }
    request = {"url": f"{outside.url}/flights", "secret": "token", "records": "/flights", "retries": 0}
    condition = {"function": "min", "column": "price", "op": "drops"}
    message = {
        "channel": "slack",
        "to": "ops",
        "text": "{{flights.rows}} flights, the cheapest {{drop.city.name}}",
    }
    nodes = [
        {"id": "flights", "type": "http_request", "config": request},
        {"id": "cheap", "type": "filter", "config": {"condition": cheap}},
        {"id": "best", "type": "sort", "config": {"keys": [{"column": "price"}]}},
        {"id": "drop", "type": "condition", "config": condition},
        {"id": "tell", "type": "notify", "config": message},
        {"id": "alarm", "type": "notify", "config": {"channel": "slack", "to": "ops", "when": "failed"}},
    ]
    ends = [("flights", "cheap"), ("cheap", "best"), ("best", "drop"), ("drop", "tell")]
    return {"name": "Flights", "nodes": nodes, "edges": [{"from": a, "to": b} for a, b in ends]}


async def run(ada: User, path: str, until: Callable[[dict[str, Any]], bool] | None = None) -> dict[str, Any]:
    started = await ada.http.post(f"{path}/run", json={})
    assert started.status_code == 201, started.text
    return await follow(ada, started.headers["Location"].partition("/api/v1")[2], until)


async def follow(
    ada: User, place: str, until: Callable[[dict[str, Any]], bool] | None = None
) -> dict[str, Any]:
    async with hang_guard():
        while True:
            view: dict[str, Any] = (await ada.http.get(place)).json()
            if view["ended_at"] or (until is not None and until(view)):
                return view
            await asyncio.sleep(0.01)


@pytest.mark.usefixtures("worker", "ready")
async def test_an_envelope_of_records_needs_no_pointer(ada: User, outside: Outside) -> None:
    node = {"id": "flights", "type": "http_request", "config": {"url": f"{outside.url}/flights"}}
    saved = await ada.http.post("/workflows", json={"name": "Envelope", "nodes": [node], "edges": []})
    ended = await run(ada, f"/workflows/{saved.json()['id']}")
    assert [row[-1] for row in ended["nodes"]["flights"]["preview"]] == [400, 120, 80], ended


@pytest.fixture
def log(app: FastAPI) -> Iterator[io.StringIO]:
    """Every log line of the test, as the service writes it."""
    root = logging.getLogger()
    before, stream = (root.handlers, root.level), io.StringIO()
    configure_logging("DEBUG", "json", stream)
    yield stream
    root.handlers, root.level = before


ReadSpans = Callable[[], Sequence[ReadableSpan]]


@pytest.fixture
def spans() -> Iterator[ReadSpans]:
    """A function that returns all spans until now: they are exported in portions, and the last one waits."""
    exporter = InMemorySpanExporter()
    tracing = provider("", 1.0, exporter)

    def read_spans() -> Sequence[ReadableSpan]:
        tracing.force_flush()
        return exporter.get_finished_spans()

    with use_tracer(tracing.get_tracer("test")):
        yield read_spans
    tracing.shutdown()


@pytest.mark.usefixtures("ready")
async def test_a_workflow_asks_a_server_and_tells_when_a_price_drops(
    log: io.StringIO,
    spans: Callable[[], Sequence[ReadableSpan]],
    app: FastAPI,
    ada: User,
    outside: Outside,
    worker: None,
) -> None:
    saved = await ada.http.post("/workflows", json=flights_workflow(outside))
    assert saved.status_code == 201, saved.text
    path = f"/workflows/{saved.json()['id']}"

    first = await run(ada, path)
    assert (first["status"], first["outcome"]) == ("completed", "succeeded"), first
    assert {name: node["status"] for name, node in first["nodes"].items()} == {
        "alarm": "skipped",
        "flights": "done",
        "best": "done",
        "drop": "done",
        "tell": "skipped",
    }
    assert (first["nodes"]["drop"]["figure"], first["nodes"]["drop"]["passes"]) == (80, False)
    assert first["nodes"]["best"]["preview"] == [["City 2", 80], ["City 1", 120]]
    assert f"Authorization: Bearer {HIDDEN}\r\n" in outside.heads[0]

    outside.prices = [70, 400]
    second = await run(ada, path)
    assert second["nodes"]["tell"]["status"] == "done", second
    assert outside.messages == [{"text": "2 flights, the cheapest City 0"}]

    broken = [{"op": "replace", "path": "/nodes/@flights/config/url", "value": f"{outside.url}/broken"}]
    assert (await ada.http.post(f"{path}/patch", json={"operations": broken})).status_code == 200
    third = await run(ada, path)
    assert (third["outcome"], third["nodes"]["flights"]["code"]) == ("failed", "request_failed")
    assert third["nodes"]["tell"]["status"] == "skipped"
    assert "answers with status 500" in outside.messages[1]["text"]
    (review,) = (await ada.http.get("/workflow-runs?status=needs_review")).json()
    assert (review["id"], review["name"], review["status"]) == (third["id"], "Flights", "failed")
    assert review["reason"].startswith("flights: ")

    database = app.state.resources.database
    job = {"version": "1.0", "job_id": "s-1", "prompt": "fetch the flights", "workflow_tag": "Flights"}
    assert (await ada.http.post("/agent/jobs", json=job)).status_code == 201
    tables = await database.column("select tablename from pg_tables where schemaname = 'public'")
    assert {"calls", "events", "agent_jobs", "workflow_versions", "secrets"} <= {*tables}
    for table in tables:
        rows = await database.rows(f'select * from "{table}"')
        assert HIDDEN not in f"{[dict(row) for row in rows]}", table
    finished = spans()
    assert "run_http_request" in f"{[span.name for span in finished]}"
    assert HIDDEN not in "".join(span.to_json() for span in finished)
    assert "step_finished" in log.getvalue()
    assert HIDDEN not in log.getvalue()
    listed = (await ada.http.get(f"{path}/runs")).json()
    assert [(one["version"], one["status"]) for one in listed] == [
        (2, "failed"),
        (1, "succeeded"),
        (1, "succeeded"),
    ]


@pytest.mark.usefixtures("worker", "ready")
async def test_a_run_waits_for_an_approval_and_a_refusal_ends_the_branch(ada: User, outside: Outside) -> None:
    nodes = [
        {"id": "flights", "type": "http_request", "config": {"url": f"{outside.url}/x", "records": "/flights"}},
        {"id": "few", "type": "sql", "config": {"sql": "SELECT max(price) AS top FROM flights"}},
        {
            "id": "more",
            "type": "python",
            "config": {"code": "keep['more'] = few.assign(double=few['top'] * 2)"},
        },
        {"id": "ask", "type": "approve", "config": {"text": "Send it?"}},
        {"id": "tell", "type": "notify", "config": {"channel": "webhook", "to": "ops"}},
    ]
    ends = [("flights", "few"), ("few", "more"), ("more", "ask"), ("ask", "tell")]
    content = {"name": "Asked", "nodes": nodes, "edges": [{"from": a, "to": b} for a, b in ends]}
    saved = await ada.http.post("/workflows", json=content)
    assert saved.status_code == 201, saved.text
    path = f"/workflows/{saved.json()['id']}"
    for answer, status in (("approve", "done"), ("reject", "skipped")):
        waiting = await run(ada, path, lambda view: view["status"] == "awaiting_user")
        assert waiting["question"]["text"] == "Send it?", waiting
        former = (await ada.http.get(f"{path}/runs")).json()
        assert former[0]["status"] == "awaiting_user", former
        (listed,) = (await ada.http.get("/workflow-runs?status=awaiting_user")).json()
        assert (listed["id"], listed["name"]) == (waiting["id"], "Asked")
        assert listed["question"] == waiting["question"]
        place = f"/workflow-runs/{waiting['id']}"
        wrong = await ada.http.post(f"{place}/answer", json={"answer": "perhaps"})
        assert wrong.status_code == 422
        assert (await ada.http.post(f"{place}/answer", json={"answer": answer})).status_code == 200
        ended = await follow(ada, place)
        assert (ended["outcome"], ended["nodes"]["tell"]["status"]) == ("succeeded", status), ended
        assert (await ada.http.get("/workflow-runs?status=awaiting_user")).json() == []
        assert ended["nodes"]["more"]["preview"] == [[400, 800]]
    (message,) = outside.messages
    assert (message["node"], message["table"]["rows"]) == ("tell", [[400, 800]])

    waiting = await run(ada, path, lambda view: view["question"] is not None)
    assert (await ada.http.get("/runs")).json()["items"] == []
    assert (await ada.http.get(f"/runs/{waiting['id']}")).status_code == 404
    assert (await ada.http.post(f"/workflow-runs/{waiting['id']}/cancel")).status_code == 202
    assert (await follow(ada, f"/workflow-runs/{waiting['id']}"))["status"] == "cancelled"


@pytest.mark.usefixtures("ready")
async def test_unknown_secrets_and_hosts_are_faults_of_the_workflow(ada: User, outside: Outside) -> None:
    content = flights_workflow(outside)
    content["nodes"][0]["config"] |= {"url": "https://evil.example.com/"}
    content["nodes"][4]["config"] |= {"to": "nobody"}
    refused = (await ada.http.post("/workflows", json=content)).json()
    assert [(fault["pointer"], fault["code"]) for fault in refused["faults"]] == [
        ("/nodes/0/config", "host_not_allowed"),
        ("/nodes/4/config", "secret_not_found"),
    ]


@pytest.mark.usefixtures("worker", "ready")
async def test_a_run_goes_on_from_the_node_that_failed(ada: User, eve: User, outside: Outside) -> None:
    nodes = [
        {"id": "flights", "type": "http_request", "config": {"url": f"{outside.url}/x", "records": "/flights"}},
        {"id": "best", "type": "sql", "config": {"sql": "SELECT min(price) AS low FROM flights"}},
        {"id": "tell", "type": "notify", "config": {"channel": "slack", "to": "ops", "text": "{{best.low}}"}},
    ]
    ends = [("flights", "best"), ("best", "tell")]
    content = {"name": "Retried", "nodes": nodes, "edges": [{"from": a, "to": b} for a, b in ends]}
    path = f"/workflows/{(await ada.http.post('/workflows', json=content)).json()['id']}"
    await ada.http.put("/secrets/ops", json={"value": f"{outside.url}/broken"})
    failed = await run(ada, path)
    assert {name: node["status"] for name, node in failed["nodes"].items()} == {
        "flights": "done",
        "best": "done",
        "tell": "failed",
    }
    place = f"/workflow-runs/{failed['id']}"
    assert (await eve.http.post(f"{place}/retry", json={})).status_code == 404
    unknown = await ada.http.post(f"{place}/retry", json={"from_node": "bets"})
    assert (unknown.json()["code"], unknown.json()["nearest"]) == ("unknown_node", ["best"])

    await ada.http.put("/secrets/ops", json={"value": f"{outside.url}/hook"})
    outside.prices = [7]
    asked = len(outside.heads)
    retried = await ada.http.post(f"{place}/retry", json={})
    assert retried.status_code == 201, retried.text
    ended = await follow(ada, retried.headers["Location"].partition("/api/v1")[2])
    assert (ended["outcome"], ended["retried"]) == ("succeeded", {"id": failed["id"], "node": "tell"}), ended
    assert (outside.messages[-1], len(outside.heads)) == ({"text": "80"}, asked + 1)
    assert ended["nodes"]["flights"] == failed["nodes"]["flights"]
    nothing = await ada.http.post(f"/workflow-runs/{ended['id']}/retry", json={})
    assert nothing.json()["code"] == "nothing_failed"
    again = await ada.http.post(f"/workflow-runs/{ended['id']}/retry", json={"from_node": "best"})
    ended = await follow(ada, f"/workflow-runs/{again.json()['id']}")
    assert (ended["outcome"], outside.messages[-1]) == ("succeeded", {"text": "80"}), ended
