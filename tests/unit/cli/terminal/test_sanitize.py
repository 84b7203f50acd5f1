from io import StringIO

import pytest
from rich.console import Console

from app.cli.api_client.received_events import QuestionEvent
from app.cli.sessions.prompts import put
from app.cli.terminal.sanitize import plain

HOSTILE = "\x1b[2J[/red] [bold]<=50K\x07\u202e"


@pytest.mark.parametrize("text", [HOSTILE, "[/]", "[link=file:///x]", "two\nlines"])
def test_text_is_shown_to_the_letter_and_steers_nothing(text: str) -> None:
    out = StringIO()
    Console(file=out, force_terminal=True, color_system=None, width=200).print(plain(text))
    shown = out.getvalue()
    assert shown.rstrip("\n") == text.replace("\x1b", "\ufffd").replace("\x07", "\ufffd").replace(
        "\u202e", "\ufffd"
    )


def test_a_question_of_hostile_text_can_be_asked() -> None:
    out = StringIO()
    question = QuestionEvent(
        kind="clarification_asked",
        question="1.ask",
        agent="planner",
        text="Which [/x] column?",
        options=("[/]", HOSTILE),
        default="[/]",
    )
    assert put(question, Console(file=out, width=200), lambda prompt: "2") == HOSTILE
    assert "Which [/x] column?" in out.getvalue()
    assert "\x1b" not in out.getvalue()
