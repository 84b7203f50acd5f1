from typing import Any

import pytest
from rich.console import Console

from app.cli.api_client.received_events import QuestionEvent
from app.cli.sessions.prompts import parse_answer, put


@pytest.mark.parametrize(
    ("typed", "answer"),
    [("", "age"), ("2", "fare"), ("FARE", "fare"), ("fare", "fare"), ("cabin", "cabin")],
)
def test_an_option_is_chosen_by_number_or_name(typed: str, answer: str) -> None:
    assert parse_answer(typed, ["age", "fare"], "age", {"type": "string"}) == answer


@pytest.mark.parametrize(
    ("typed", "schema", "answer"),
    [
        ("yes", {"type": "boolean"}, True),
        ("N", {"type": "boolean"}, False),
        ("12", {"type": "integer"}, 12),
        ('["a", "b"]', {"type": "array"}, ["a", "b"]),
        ("12", {"type": "string"}, "12"),
        ("plain words", {}, "plain words"),
    ],
)
def test_what_is_typed_becomes_json_of_the_schema(typed: str, schema: dict[str, Any], answer: Any) -> None:
    assert parse_answer(typed, [], None, schema) == answer


def test_a_question_shows_its_options_and_default() -> None:
    console = Console(record=True, width=80)
    question = QuestionEvent(
        kind="clarification_asked",
        question="1.ask",
        agent="data_analyst",
        text="Which one? [bold]",
        options=("a", 2),
        default="a",
    )
    prompts: list[str] = []

    def read(prompt: str) -> str:
        prompts.append(prompt)
        return "2"

    assert put(question, console, read) == 2
    shown = console.export_text()
    assert "data analyst asks: Which one? [bold]" in shown
    assert "2. 2" in shown
    assert prompts == ["Your answer [a]: "]
