"""Columns whose names have signs, between backticks, as the page suggests questions about them."""

from dataclasses import asdict
from typing import Any

import pytest

from app.agents.assistant.brief import ChatBrief
from app.agents.assistant.offline_rules import decide

from ..conftest import conversation

NAMES = ("Paid?", "net/gross", "A>B", "50% share", "a - b", "Amount ($)", "mean of all", "by day", "x=1 or y")


def _plan(question: str, quantity: str, group: str) -> dict[str, Any]:
    table = {
        "table": "invoices",
        "rows": 300,
        "columns": [
            {"name": quantity, "type": "number", "hint": "numeric", "distinct": 90, "min": 0, "max": 90},
            {"name": group, "type": "text", "hint": "category", "distinct": 2, "top": [{"value": "yes"}]},
        ],
    }
    [call] = decide(conversation(asdict(ChatBrief(question, [table])))).tool_calls
    return dict(call["args"]["plan"])


@pytest.mark.parametrize("name", NAMES)
def test_a_quoted_name_is_one_column(name: str) -> None:
    assert repr(name) in str(_plan(f"Mean `{name}` by `group?`", name, "group?"))
    assert "'group?'" in str(_plan(f"Mean `{name}` by `group?`", name, "group?"))
    assert repr(name) in str(_plan(f"How many rows by `{name}`?", "amount", name))
    assert repr(name) in str(_plan(f"What is the maximum `{name}`?", name, "group"))
