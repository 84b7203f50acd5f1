"""Sentences for a user who did not approve a call; the refusal itself is for the agent."""

from app.agents.assistant.brief import ChatBrief
from app.agents.assistant.offline_rules import RULES
from app.agents.runtime.conversation import CompletedCall, ConversationView
from app.tools.tool_errors import get_refusal, make_error

MESSAGE = "replace 'rose' by 'fell' in notes.md"


def _answer(kind: str, action: str | None = None) -> str:
    message = "The user rejected this call. Continue without it, or propose another one."
    error = make_error(kind, message, action=action)  # type: ignore[arg-type]
    edit = CompletedCall("edit_file", {}, error, get_refusal(error))
    view = ConversationView(ChatBrief(MESSAGE), (edit,))
    return next(action.message for rule in RULES if (action := rule(view)))


def test_a_rejected_call_is_told_to_the_user_and_not_to_an_agent() -> None:
    said = _answer("rejected_by_user", "edit notes.md")
    assert said == "I did not edit notes.md, because you did not approve it."
    # A journal of an earlier version has no words for the call.
    assert _answer("rejected_by_user") == "I did not edit file, because you did not approve it."
    # Other refusals say what is wrong, which the user can mend.
    assert _answer("not_found").startswith("The user rejected this call")
