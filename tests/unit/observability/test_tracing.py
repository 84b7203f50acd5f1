"""Spans as a collector gets them: over HTTP, from the exporter that a service uses."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import UUID, uuid4

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider

from app.errors import Unavailable
from app.observability import tracing
from app.observability.exporting import provider
from app.observability.tracing import sending, span

SECRET = "sk-live-4242424242"
PERSON = "ada.lovelace@example.org"


class Waits(Exception):
    pass


@dataclass
class Collector:
    """An OTLP server. `received` are request bodies."""

    address: str
    provider: TracerProvider
    received: list[bytes] = field(default_factory=list)
    paths: set[str] = field(default_factory=set)

    def spans(self) -> list[Any]:
        self.provider.force_flush()
        requests = [ExportTraceServiceRequest.FromString(body) for body in self.received]
        return [
            one
            for request in requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for one in scope.spans
        ]


@pytest.fixture
def collector() -> Iterator[Collector]:
    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            found.paths.add(self.path)
            found.received.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}"
    found = Collector(address, provider(address, 2.0))
    with sending(found.provider.get_tracer("test")):
        yield found
    found.provider.shutdown()
    server.shutdown()
    thread.join()
    server.server_close()


def attributes(one: Any) -> dict[str, Any]:
    return {a.key: getattr(a.value, a.value.WhichOneof("value")) for a in one.attributes}


def test_spans_follow_the_conventions_and_share_their_sessions_trace(collector: Collector) -> None:
    session = uuid4()
    with span("invoke_agent", "planner", session, {}):
        with span("chat", "openai:gpt-x", session, {}) as tell:
            tell({"gen_ai.usage.input_tokens": 12})
        with span("execute_tool", "list_datasets", session, {"labcrew.step": 1}):
            pass
    with span("invoke_agent", "reporter", session, {}):
        pass
    spans = {one.name: one for one in collector.spans()}
    assert collector.paths == {"/v1/traces"}
    assert set(spans) == {
        "invoke_agent planner",
        "chat openai:gpt-x",
        "execute_tool list_datasets",
        "invoke_agent reporter",
    }
    assert {UUID(bytes=one.trace_id) for one in spans.values()} == {session}
    planner = spans["invoke_agent planner"]
    assert spans["chat openai:gpt-x"].parent_span_id == planner.span_id
    assert spans["execute_tool list_datasets"].parent_span_id == planner.span_id
    assert attributes(spans["chat openai:gpt-x"]) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "openai:gpt-x",
        "gen_ai.conversation.id": str(session),
        "gen_ai.usage.input_tokens": 12,
    }


def test_a_span_names_an_errors_type_and_not_what_it_says(collector: Collector) -> None:
    with pytest.raises(LookupError), span("execute_tool", "fetch", uuid4(), {}):
        raise LookupError(f"{PERSON} {SECRET}")
    with pytest.raises(Waits), span("execute_tool", "ask_user", uuid4(), {}, waits=Waits):
        raise Waits
    failed, waiting = collector.spans()
    assert attributes(failed)["error.type"] == "LookupError"
    assert failed.status.code == 2
    assert (attributes(waiting)["labcrew.waiting"], waiting.status.code) == (True, 0)
    assert not any(text.encode() in body for body in collector.received for text in (PERSON, SECRET))


def test_a_tool_that_a_chat_model_made_up_is_not_named(collector: Collector) -> None:
    with span("execute_tool", f"send {PERSON}", uuid4(), {}):
        pass
    [one] = collector.spans()
    assert one.name == "execute_tool unknown"
    assert not any(PERSON.encode() in body for body in collector.received)


async def test_without_an_address_nothing_is_set_up() -> None:
    async with tracing.tracing(None):
        with span("chat", "openai:x", uuid4(), {}) as tell:
            tell({"gen_ai.usage.input_tokens": 1})
        assert tracing.session_trace_id() is None


async def test_a_missing_package_is_said_with_the_extra_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "app.observability.exporting", None)
    with pytest.raises(Unavailable, match=r"labcrew\[otel\]"):
        async with tracing.tracing("http://127.0.0.1:4318"):
            pass
