"""Conversations in the terminal: questions of turns, and conversations that are gone on with."""

import io
from collections.abc import Iterator, Mapping
from typing import Any, cast
from uuid import UUID

import pytest
from rich.console import Console

from app.cli.api_client.client import LabClient, Refused
from app.cli.chat.loop import TerminalChat, find_thread
from app.errors import LabError, NotFound

QUESTION = {
    "question": "1.approve:tool:0.0",
    "agent": "assistant",
    "text": "The assistant wants to edit notes.md.",
    "options": ["approve", "reject"],
    "default": "reject",
}


class ScriptedClient:
    """A service whose turn asks before it says what it did: its stream goes on with the answer only."""

    def __init__(self) -> None:
        self.answers: list[tuple[str, str, Any]] = []

    def chat(self, body: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        yield "status", {"thread_id": "thread", "turn_id": "turn"}
        yield "approval", QUESTION
        assert self.answers, "the stream was read on before the question was answered"
        yield "token", {"text": f"It was told to {self.answers[0][2]}."}

    def respond(self, turn_id: str, question: str, answer: Any) -> None:
        if answer not in QUESTION["options"]:
            raise Refused("answer_invalid", f"answer: {answer!r} is not valid.")
        self.answers.append((turn_id, question, answer))

    def turn(self, turn_id: str) -> dict[str, Any]:
        return {"turn_id": turn_id, "text": ""}


def hold(monkeypatch: pytest.MonkeyPatch, typed: str) -> tuple[ScriptedClient, str]:
    """Send a message whose turn asks. Returns the client and what the screen shows."""
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    client, screen = ScriptedClient(), io.StringIO()
    TerminalChat(cast(LabClient, client), Console(file=screen, width=200), []).ask("replace 'a' by 'b' in c.md")
    return client, screen.getvalue()


@pytest.mark.parametrize(("typed", "answer"), [("approve\n", "approve"), ("1\n", "approve"), ("\n", "reject")])
def test_a_question_of_a_turn_is_asked_and_its_answer_passed_on(
    monkeypatch: pytest.MonkeyPatch, typed: str, answer: str
) -> None:
    client, shown = hold(monkeypatch, typed)
    assert client.answers == [("turn", "1.approve:tool:0.0", answer)]
    assert "The assistant wants to edit notes.md." in shown
    assert f"It was told to {answer}." in shown


def test_an_answer_that_fits_nothing_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    # The turn waits for its answer, and every message after it waits for the turn.
    client, shown = hold(monkeypatch, "how many rows are there?\nreject\n")
    assert client.answers == [("turn", "1.approve:tool:0.0", "reject")]
    assert "'how many rows are there?' is not valid" in shown


def test_a_question_that_nobody_can_answer_leaves_the_turn_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    client, shown = hold(monkeypatch, "")
    assert client.answers == []
    assert "It waits for your answer" in shown


OLD_THREAD = str(UUID(int=0xD1))


class ListedThreads:
    """A page of the newest conversations, and one that is older than they are."""

    def threads(self) -> list[dict[str, str]]:
        return [{"id": "b1-new"}, {"id": "b2-old"}, {"id": "c3-older"}]

    def thread(self, thread_id: str) -> dict[str, str]:
        if thread_id not in ("b1-new", "b2-old", "c3-older", OLD_THREAD):
            raise NotFound("thread_not_found", f"There is no thread {thread_id}.")
        return {"id": thread_id}


@pytest.mark.parametrize(
    ("text", "thread"),
    [("last", "b1-new"), ("b2", "b2-old"), ("C3-older", "c3-older"), (OLD_THREAD, OLD_THREAD)],
)
def test_a_conversation_is_named_by_its_beginning_or_as_the_last(text: str, thread: str) -> None:
    assert find_thread(cast(LabClient, ListedThreads()), text) == thread


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("b", "2 conversations begin with b"),
        ("nonsense", "No conversation begins with nonsense"),
        (str(UUID(int=1)), "There is no thread"),
    ],
)
def test_a_conversation_that_is_not_there_or_not_the_only_one_is_refused(text: str, refusal: str) -> None:
    with pytest.raises(LabError, match=refusal):
        find_thread(cast(LabClient, ListedThreads()), text)
