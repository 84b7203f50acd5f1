"""Sending over crashes of the process: nothing is sent twice unasked, and no node holds up another."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest
from langgraph.errors import GraphInterrupt

from app.sessions.step_scope import Call, CallResult, Question
from app.workflows.document import Node, WorkflowDocument
from app.workflows.runs.context import RunContext
from app.workflows.runs.sending import LEAVE, SEND_AGAIN, send_once


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
    sender.crashes = False
    assert (await sender.send(), sender.sent) == ("done", ["tell", "tell"])
