"""Spans as a collector gets them: over HTTP, from the exporter that a service uses."""

import time
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from tests.otlp import Collector, attributes, collecting

from app.errors import Unavailable
from app.observability import tracing
from app.observability.otlp_exporter import provider
from app.observability.trace_ids import root_span_id
from app.observability.tracing import past_span, span, span_inside, use_tracer

SECRET = "sk-live-4242424242"
PERSON = "ada.lovelace@example.org"


class Waits(Exception):
    pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as found:
        yield found


Sent = Callable[[], list[Any]]


@pytest.fixture
def sent(collector: Collector) -> Iterator[Sent]:
    """The spans that have been sent by now."""
    made = provider(collector.address, 2.0)

    def spans() -> list[Any]:
        made.force_flush()
        return collector.spans()

    with use_tracer(made.get_tracer("test")):
        yield spans
    made.shutdown()


def test_spans_follow_the_conventions_and_share_their_sessions_trace(collector: Collector, sent: Sent) -> None:
    session = uuid4()
    with span("invoke_agent", "planner", session, {}):
        with span("chat", "openai:gpt-x", session, {}) as tell:
            tell({"gen_ai.usage.input_tokens": 12})
        with span("execute_tool", "list_datasets", session, {"labcrew.step": 1}):
            pass
    with span("invoke_agent", "reporter", session, {}):
        pass
    spans = {one.name: one for one in sent()}
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


def test_a_session_is_one_trace_tree_across_processes(sent: Sent) -> None:
    session, other, began_at = uuid4(), uuid4(), time.time() - 60  # clock: a date
    past_span("create_session", "pipeline", session, began_at, {})
    with (
        span("invoke_agent", "planner", session, {}),
        span("execute_tool", "profile", session, {}),
        span_inside("run_cell", "profile.profile") as tell,
    ):
        tell({"labcrew.end": "returned"})
    with span("fit", "train.fit", session, {}), span("fit", "train.fit", other, {}):
        pass
    with span_inside("run_cell", "of.nobody"):
        pass
    past_span("session", "pipeline", session, began_at, {"labcrew.status": "completed"}, root=True)
    spans = [one for one in sent() if UUID(bytes=one.trace_id) == session]
    assert len(sent()) == len(spans) + 1
    by_name = {one.name: one for one in spans}
    root = by_name.pop("session pipeline")
    assert (root.parent_span_id, int.from_bytes(root.span_id)) == (b"", root_span_id(session))
    assert root.end_time_unix_nano - root.start_time_unix_nano >= 60 * 10**9
    parents = {name: one.parent_span_id for name, one in by_name.items()}
    assert parents == {
        "create_session pipeline": root.span_id,
        "invoke_agent planner": root.span_id,
        "execute_tool profile": by_name["invoke_agent planner"].span_id,
        "run_cell profile.profile": by_name["execute_tool profile"].span_id,
        "fit train.fit": root.span_id,
    }


def test_a_span_has_an_errors_type_and_not_its_text(collector: Collector, sent: Sent) -> None:
    with pytest.raises(LookupError), span("execute_tool", "fetch", uuid4(), {}):
        raise LookupError(f"{PERSON} {SECRET}")
    with pytest.raises(Waits), span("execute_tool", "ask_user", uuid4(), {}, pause=Waits):
        raise Waits
    failed, waiting = sent()
    assert attributes(failed)["error.type"] == "LookupError"
    assert failed.status.code == 2
    assert (attributes(waiting)["labcrew.waiting"], waiting.status.code) == (True, 0)
    assert not any(text.encode() in body for body in collector.received for text in (PERSON, SECRET))


def test_a_tool_that_a_chat_model_made_up_is_not_named(collector: Collector, sent: Sent) -> None:
    with span("execute_tool", f"send {PERSON}", uuid4(), {}):
        pass
    [one] = sent()
    assert one.name == "execute_tool unknown"
    assert not any(PERSON.encode() in body for body in collector.received)


async def test_without_an_address_nothing_is_set_up() -> None:
    async with tracing.tracing(None):
        with span("chat", "openai:x", uuid4(), {}) as tell:
            tell({"gen_ai.usage.input_tokens": 1})
        past_span("session", "pipeline", uuid4(), 0.0, {}, root=True)


async def test_missing_tracing_packages_are_reported_with_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "app.observability.otlp_exporter", None)
    with pytest.raises(Unavailable, match=r"labcrew\[otel\]"):
        async with tracing.tracing("http://127.0.0.1:4318"):
            pass
