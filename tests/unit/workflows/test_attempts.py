"""Attempts over waits and crashes: none is made twice, and a wait gives the place of its run up."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest
from langgraph.errors import GraphInterrupt
from tests.patience import HANG_GUARD_S

from app.errors import Unavailable
from app.sessions.step_scope import Call, CallResult
from app.workflows.document import Node, WorkflowDocument
from app.workflows.node_configs import AnswerPages, HttpRequest, Notify
from app.workflows.requests.client import OutgoingRequest, RequestClient
from app.workflows.requests.passing import PassingFailure
from app.workflows.runs.answer_pages import PageReader
from app.workflows.runs.attempts import SendingTime, send_repeatedly
from app.workflows.runs.context import RunContext
from app.workflows.runs.sending import send_message

NODE = Node(id="ask", type="http_request")


@dataclass
class WaitingStep:
    """A step whose journal outlives its drives. `waits`: their seconds; the next drive finds that time over."""

    calls: dict[str, Any] = field(default_factory=dict)
    waits: list[float] = field(default_factory=list)
    passed: set[datetime] = field(default_factory=set)
    session: Any = field(default_factory=lambda: SimpleNamespace(id="run"))

    async def call(self, call: Call, run: Callable[[], Awaitable[CallResult]]) -> Any:
        if call.key not in self.calls:
            self.calls[call.key] = (await run()).value
            if call.name == "set_wake_time":
                self.waits.append(cast(Any, call.request)["seconds"])
        return self.calls[call.key]

    async def wait_until(self, wake_time: datetime) -> None:
        if wake_time not in self.passed:
            self.passed.add(wake_time)
            raise GraphInterrupt


def make_context(step: WaitingStep, max_wait_s: float = 1_000, **services: Any) -> RunContext:
    document = WorkflowDocument(nodes=[NODE])
    facts = SimpleNamespace(max_wait_s=max_wait_s, **services)
    return cast(
        RunContext,
        SimpleNamespace(step=step, services=facts, document=document, item=None, session=step.session),
    )


async def drive(run: Callable[[], Awaitable[Any]]) -> Any:
    """Run a step until it waits for nothing more."""
    while True:
        try:
            return await run()
        except GraphInterrupt:
            continue


async def test_what_may_pass_is_sent_again_after_the_wait_that_it_asks_for() -> None:
    step, sent = WaitingStep(), list[int]()
    waits_s: list[float | None] = [600.0, None, None]

    async def send(number: int) -> str:
        sent.append(number)
        if number < 4:
            raise PassingFailure("request_failed", "Busy.", wait_s=waits_s[number - 1])
        return "done"

    ctx = make_context(step)
    assert await drive(lambda: send_repeatedly(ctx, NODE, "ask", 4, send)) == ("done", 4)
    assert sent == [1, 2, 3, 4], "an attempt that was recorded is not made again"
    assert step.waits == [600, 1, 2]


async def test_the_last_failure_and_too_long_a_wait_are_raised() -> None:
    async def send(_: int) -> str:
        raise PassingFailure("request_failed", "Busy.", wait_s=600.0)

    step = WaitingStep()
    with pytest.raises(PassingFailure):
        await drive(lambda: send_repeatedly(make_context(step), NODE, "ask", 2, send))
    assert step.waits == [600]
    with pytest.raises(Unavailable, match="It asks to wait for 600 seconds, and 60 seconds is the longest"):
        await send_repeatedly(make_context(WaitingStep(), max_wait_s=60), NODE, "ask", 2, send)


async def test_what_attempts_took_before_a_wait_counts_behind_it() -> None:
    step, sent, time_limit_s = WaitingStep(), list[int](), HANG_GUARD_S
    ctx = make_context(step)

    async def send(number: int) -> str:
        sent.append(number)
        raise PassingFailure("request_failed", "Busy.", wait_s=600.0)

    async def read() -> Any:
        time = SendingTime(time_limit_s)
        return await send_repeatedly(ctx, NODE, "ask", 3, lambda n: time.bound(lambda: send(n)), time)

    with pytest.raises(GraphInterrupt):
        await read()
    attempt = step.calls["choice:attempt:ask:1"]
    assert attempt["took_s"] >= 0
    attempt["took_s"] = time_limit_s
    with pytest.raises(TimeoutError):
        await drive(read)
    assert sent == [1], "nothing is sent when no time is left"


async def test_what_pages_took_before_a_wait_counts_behind_it() -> None:
    url = "http://127.0.0.1/prices"
    page = {"answer": "a", "size_bytes": 2, "place": "p", "took_s": 70}
    step = WaitingStep(calls={f"choice:ask:page:{number}": page for number in (1, 2)})

    async def inspect(*_: Any) -> Any:
        numbers.append(len(numbers) + 1)
        value = {
            "records": 1,
            "digest": "d",
            "next": f"/{len(numbers)}",
            "next_page": None,
            "url": url,
            "link": None,
        }
        return SimpleNamespace(value=value)

    numbers = list[int]()
    ctx = make_context(step, computer=SimpleNamespace(run=inspect))
    # clock: a limit that the recorded pages have used up
    pages = AnswerPages(by="link", next="/next", timeout_s=100)
    reader = PageReader(
        ctx, NODE, HttpRequest(url=url), pages, cast(RequestClient, None), OutgoingRequest("GET", url), 1
    )
    with pytest.raises(Unavailable, match="did not send all pages within 100 s: 2 pages came"):
        await reader.read()


async def test_a_mail_that_was_not_taken_is_announced_again_for_each_attempt() -> None:
    taken = list[str]()

    async def send_mail(to: str | None, subject: str, text: str, key: str) -> None:
        taken.append(key)
        if len(taken) < 3:
            raise PassingFailure("request_failed", "Not now.")

    async def list_datasets() -> dict[Any, str]:
        return {}

    step = WaitingStep()
    ctx: Any = make_context(step, send_mail=send_mail)
    ctx.dataset_tables = list_datasets
    message = Notify(channel="email", text="Hello", retries=2)
    node = Node(id="tell", type="notify", config={"channel": "email"})
    result = await drive(lambda: send_message(ctx, node, message, {}))
    assert (result.value["status"], result.value["attempts"]) == ("done", 3)
    assert taken == ["run.tell"] * 3
    announced = [key for key in step.calls if key.startswith("choice:announce")]
    assert announced == ["choice:announce", "choice:announce:attempt-2", "choice:announce:attempt-3"]
