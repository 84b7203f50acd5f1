"""What an answer suggests to say next."""

from typing import Any

import pytest

from app.threads.next_messages import list_study_options, suggest_next_messages

DAILY = "do this every weekday at 8"


def outcome(*types: str, rows: int = 3, **parts: Any) -> dict[str, Any]:
    columns = [{"name": f"c{place}", "type": type_} for place, type_ in enumerate(types)]
    return {"table": {"columns": columns, "row_count": rows}, "plan": {"steps": []}, **parts}


@pytest.mark.parametrize(
    ("parts", "messages"),
    [
        (outcome("text", "number"), ["as a bar chart", DAILY]),
        (outcome("datetime", "integer"), ["as a line chart", DAILY]),
        (outcome("text", "number", rows=1), [DAILY]),
        (outcome("text", "number", rows=100), [DAILY]),
        (outcome("text", "text", "number"), [DAILY]),
        (outcome("text", "number", charts=[{}]), [DAILY]),
        (outcome("text", "number", rows=0), []),
        (outcome("text", "number", plan=None), []),
        (outcome("text", "number", plan=None, steps=[{"type": "http_request"}]), [DAILY]),
        ({}, []),
    ],
)
def test_a_table_of_a_plan_can_be_drawn_and_repeated(parts: dict[str, Any], messages: list[str]) -> None:
    assert suggest_next_messages(parts) == messages


def test_the_options_of_a_study_that_asks_are_messages() -> None:
    asking = {"id": "two", "question": {"text": "Which one?", "options": ["amount", "cost"]}}
    assert list_study_options([{"id": "one", "question": None}, asking]) == ["amount", "cost"]
    assert list_study_options([asking, {"id": "one", "question": None}]) == []
    assert list_study_options([]) == []
