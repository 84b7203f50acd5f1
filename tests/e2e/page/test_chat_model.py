"""Conversations with a chat model in the page: words as they come, approvals, interrupts and branches."""

import os
import re
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.messages.tool import tool_call
from playwright.sync_api import Page, expect
from tests.scripted_chat import Json, ScriptedChat, by_policy, messages_of, output_of, serving

from app.agents.runtime.conversation import read_conversation

from .conftest import PHONE, Visit, running_studio

WORDS = 400
"""Words of a long answer, 0.01 s each."""
ENDLESS_WORDS = 20_000
"""Words of an answer that no machine is slow enough to see the end of before it stops it."""
CALLS: dict[str, tuple[tuple[str, Json], ...]] = {
    "Keep notes": (
        ("write_file", {"name": "notes.md", "text": "mean: 1\n"}),
        ("edit_file", {"name": "notes.md", "old": "mean: 1", "new": "mean: 2"}),
    ),
    "Correct the notes": (("edit_file", {"name": "notes.md", "old": "mean: 3", "new": "mean: 4"}),),
    "Work for ever": (("execute_python", {"code": "while True: pass"}),),
}
"""Message -> the calls that the model makes for it."""
LENGTHS = """() => {
    window.lengths = new Set();
    const answer = () => document.querySelector('article:last-of-type .answered');
    const look = () => window.lengths.add(answer()?.textContent.length);
    new MutationObserver(look).observe(document.body, { childList: true, characterData: true, subtree: true });
}"""


def answer(asked: Json, place: int) -> AIMessage:
    """Tell a story, keep and change notes, or say what was heard."""
    if output_of(asked) != "Reply":
        return by_policy(asked, place)
    view = read_conversation(messages_of(asked["messages"]))
    message = str(view.brief["message"])
    if "story" in message:
        words = ENDLESS_WORDS if "endless" in message else WORDS
        return AIMessage("Once. " + " ".join(f"word{number}" for number in range(words)) + " The end.")
    calls = CALLS.get(message, ())
    for name, arguments in calls:
        if not view.was_called(name):
            return AIMessage("I keep notes.", tool_calls=[tool_call(name=name, args=arguments, id=name)])
    if calls:
        heard = [part["content"] for part in asked["messages"] if part["role"] == "tool"]
        return AIMessage(f"The last call said: {heard[-1][:300]}")
    return AIMessage(f"You said: {message}")


@pytest.fixture(scope="module")
def studio(start_up: Callable[..., Any]) -> Iterator[Any]:
    """A service of its own that thinks with the scripted model."""
    with serving(ScriptedChat(answer, agent_faults=("slow",) * 100)) as chat:
        model = {"LLM_MODEL": "openai:scripted", "LLM_BASE_URL": chat.base_url, "OPENAI_API_KEY": "scripted"}
        with running_studio(start_up, **model) as up:
            yield up


def say(page: Page, message: str) -> None:
    page.get_by_label("Message", exact=True).fill(message)
    page.keyboard.press("Enter")


def test_words_are_drawn_as_they_come_through_a_lost_connection_and_can_be_stopped(
    studio: Any, visit: Callable[..., Visit]
) -> None:
    visitor = visit()
    page = visitor.page
    visitor.ignored += ["ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED", "ERR_CONNECTION_RESET", "WebSocket"]
    visitor.open("/chat")
    page.evaluate(LENGTHS)
    say(page, "Tell me a story")
    story = page.get_by_role("article", name="Tell me a story")
    expect(story).to_contain_text("The end.")
    assert len(page.evaluate("[...window.lengths]")) > 5

    say(page, "Tell me a story again")
    again = page.get_by_role("article", name="Tell me a story again")
    expect(again).to_contain_text("word3")
    os.kill(studio.pid_of("api"), signal.SIGKILL)
    expect(again).to_contain_text("The end.")
    assert (again.text_content() or "").count("Once.") == 1
    expect(again.get_by_text("Not connected since")).to_be_hidden()

    say(page, "An endless story")
    expect(page.get_by_role("article", name="An endless story")).to_contain_text("word3")
    page.get_by_role("button", name="Stop").press("Enter")
    expect(page.get_by_text(re.compile("Stopped|Interrupted"))).to_be_visible()
    expect(page.get_by_text("The answer was stopped")).to_be_attached()
    expect(page.get_by_label("Message")).to_be_focused()

    say(page, "Work for ever")
    running = page.get_by_role("article", name="Work for ever").get_by_role("status")
    expect(running).to_have_text("● execute python")
    page.reload()
    expect(running).to_have_text("● execute python")
    page.get_by_role("button", name="Stop").press("Enter")
    expect(running).to_be_hidden()

    # While the service is away a message stands where it was written, and can be sent again.
    visitor.ignored += ["ERR_INTERNET_DISCONNECTED"]
    visitor.context.set_offline(True)
    say(page, "Say one")
    expect(page.get_by_role("alert")).to_contain_text("No connection.")
    expect(page.get_by_label("Message")).to_have_value("Say one")
    visitor.context.set_offline(False)
    page.keyboard.press("Enter")
    expect(page.get_by_text("You said: Say one")).to_be_visible()
    expect(page.get_by_role("alert")).to_be_hidden()
    expect(page.get_by_label("Message")).to_have_value("")
    visitor.check_rules()


def test_a_call_is_approved_with_changes_and_another_one_rejected_with_a_reason(
    visit: Callable[..., Visit],
) -> None:
    visitor = visit()
    page = visitor.page
    visitor.open("/chat")
    say(page, "Keep notes")
    question = page.get_by_role("region", name="Approve?")
    expect(question).to_contain_text("mean: 2")
    expect(question).to_be_focused()
    # Who has left the conversation is told that it waits, and led back to the question.
    visitor.open("/inbox")
    waiting = page.get_by_role("list", name="Questions and proposals")
    expect(waiting).to_contain_text("The assistant wants to edit notes.md.")
    waiting.get_by_role("link", name="Keep notes").press("Enter")
    expect(question).to_be_focused()
    question.get_by_text("Change it before it is done").click()
    visitor.check_access()
    question.get_by_label("New").fill("mean: 3")
    question.get_by_role("button", name="Approve with these changes").click()
    expect(page.get_by_role("article", name="Keep notes")).to_contain_text("The last call said")
    expect(question).to_be_hidden()
    # Without a pointer: the next message is written where the answer leaves the focus.
    expect(page.get_by_label("Message", exact=True)).to_be_focused()
    page.keyboard.type("Correct the notes")
    page.keyboard.press("Enter")
    expect(question).to_be_focused()
    question.get_by_label("Or reject with a reason").focus()
    page.keyboard.type("The mean was checked by hand.")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Message", exact=True)).to_be_focused()
    expect(page.get_by_text("The answer is there")).to_be_attached()
    refused = page.get_by_role("article", name="Correct the notes")
    expect(refused).to_contain_text("rejected this call: The mean was checked by hand.")
    visitor.check_rules()


def test_a_message_in_other_words_begins_a_branch_beside_what_was_said(visit: Callable[..., Visit]) -> None:
    visitor = visit(PHONE)
    page = visitor.page
    visitor.open("/chat")
    for message in ("Say one", "Say two"):
        say(page, message)
        expect(page.get_by_text(f"You said: {message}")).to_be_visible()
    page.get_by_role("article", name="Say two").get_by_role("button", name="Edit").press("Enter")
    field = page.get_by_label("The message in other words")
    expect(field).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("article", name="Say two").get_by_role("button", name="Edit")).to_be_focused()
    page.keyboard.press("Enter")
    field.fill("Say three")
    page.get_by_role("button", name="Send in a branch").click()
    expect(page.get_by_text("You said: Say three")).to_be_visible()
    expect(page.get_by_text("You said: Say one")).to_be_visible()
    expect(page.get_by_text("You said: Say two")).to_have_count(0)
    say(page, "Say four")
    expect(page.get_by_text("You said: Say four")).to_be_visible()
    page.get_by_role("button", name="Compare with main").click()
    comparison = page.get_by_role("dialog", name="Say three and main")
    branch = comparison.get_by_role("region", name="Answers of Say three").get_by_role("listitem")
    expect(branch).to_contain_text(["You said: Say three", "You said: Say four"])
    main = comparison.get_by_role("region", name="Answers of main").get_by_role("listitem")
    expect(main).to_contain_text(["You said: Say two"])
    visitor.check_access()
    visitor.check_width()
    page.keyboard.press("Escape")
    expect(comparison).to_be_hidden()
    expect(page.get_by_role("navigation", name="Branches").get_by_role("link")).to_have_text(
        ["main", "Say three"]
    )
    # The other wording is one arrow away, at the message that differs and at no other.
    wordings = page.get_by_role("navigation", name="Wordings of this message")
    expect(wordings).to_contain_text(["2/2"])
    wordings.get_by_role("link", name="Earlier wording").press("Enter")
    expect(page.get_by_text("You said: Say two")).to_be_visible()
    expect(page.get_by_text("You said: Say four")).to_have_count(0)
    expect(page.get_by_role("article", name="Say two").get_by_text("1/2")).to_be_visible()
    wordings.get_by_role("link", name="Later wording").click()
    expect(page.get_by_text("You said: Say four")).to_be_visible()
    page.get_by_role("navigation", name="Branches").get_by_role("link").first.click()
    expect(page.get_by_text("You said: Say two")).to_be_visible()
    visitor.check_rules()
