"""Sending over crashes of the process: nothing is sent twice unasked, and no node holds up another."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest
from langgraph.errors import GraphInterrupt

from app.errors import NotFound
from app.sessions.step_scope import Call, CallResult, Question
from app.workflows.document import Node, WorkflowDocument
from app.workflows.node_configs import HttpRequest, Notify
from app.workflows.runs.context import RunContext
from app.workflows.runs.sending import LEAVE, SEND_AGAIN, send_message, send_once, send_request


class Crash(BaseException):
    """The process ends."""


@dataclass
class RecordedStep:
    """A step whose journal outlives its process, as a dictionary. `asked`: the open question."""

    calls: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    asked: str = ""

    async def call(self, call: Call, run: Callable[[], Awaitable[CallResult]]) -> Any:
        if call.key not in self.calls:
            self.calls[call.key] = call.request, (await run()).value
        request, value = self.calls[call.key]
        assert request == call.request
        return value

    async def ask(self, question: Question) -> Any:
        self.asked = question.key
        if question.key not in self.answers:
            raise GraphInterrupt
        return self.answers[question.key]

    def answer(self, answer: str) -> None:
        self.answers[self.asked] = answer


@dataclass
class Sender:
    """Sends a node, and counts. `crashes`: the process ends behind the sending."""

    step: RecordedStep = field(default_factory=RecordedStep)
    nodes: list[Node] = field(default_factory=lambda: [Node(id="tell", type="notify")])
    sent: list[str] = field(default_factory=list)
    crashes: bool = False

    async def send(self, place: int = 0) -> Any:
        node = self.nodes[place]

        async def send() -> CallResult:
            self.sent.append(node.id)
            if self.crashes:
                raise Crash
            return CallResult({"status": "done"})

        document = WorkflowDocument(nodes=self.nodes)
        ctx = cast(RunContext, SimpleNamespace(step=self.step, item=None, document=document))
        value: Any = (await send_once(ctx, node, False, send)).value
        return value["status"]


async def test_each_message_about_a_failure_has_an_announcement_of_its_own() -> None:
    failed = {"when": "failed"}
    sender = Sender(nodes=[Node(id=name, type="notify", config=failed) for name in ("first", "second")])
    assert [await sender.send(0), await sender.send(1)] == ["done", "done"]
    # Runs that were announced before this release go on by the first key.
    assert [*sender.step.calls] == ["choice:announce", "choice:announce:second"]


async def test_what_was_announced_before_a_crash_is_sent_again_only_where_its_owner_says_so() -> None:
    sender = Sender(crashes=True)
    with pytest.raises(Crash):
        await sender.send()
    with pytest.raises(GraphInterrupt):
        await sender.send()
    assert (sender.step.asked, sender.sent) == ("resend", ["tell"])
    sender.step.answer(LEAVE)
    assert (await sender.send(), sender.sent) == ("unknown", ["tell"])
    sender.step.answer(SEND_AGAIN)
    with pytest.raises(Crash):
        await sender.send()
    # The first yes was for the second attempt only.
    with pytest.raises(GraphInterrupt):
        await sender.send()
    assert (sender.step.asked, sender.sent) == ("resend.2", ["tell", "tell"])
    sender.step.answer(SEND_AGAIN)
    sender.crashes = False
    assert (await sender.send(), sender.sent) == ("done", ["tell", "tell", "tell"])


async def test_what_fails_before_it_is_sent_was_not_announced() -> None:
    async def read_secret(name: str) -> str:
        raise NotFound("secret_not_found", f"You have no secret {name}.")

    async def list_datasets() -> dict[Any, str]:
        return {}

    step = RecordedStep()
    document = WorkflowDocument(nodes=[Node(id="tell", type="notify")])
    services = SimpleNamespace(read_secret=read_secret)
    ctx: Any = SimpleNamespace(step=step, item=None, document=document, services=services)
    ctx.dataset_tables = list_datasets
    request = HttpRequest(url="https://api.example.com/", method="POST", secret="ops")
    message = Notify(channel="slack", to="ops", text="Hello")
    sendings = send_request(ctx, document.nodes[0], request), send_message(ctx, document.nodes[0], message, {})
    for sending in sendings:
        with pytest.raises(NotFound):
            await sending
    assert step.calls == {}
