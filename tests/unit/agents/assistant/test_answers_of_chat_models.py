"""Answers of the rules about calls that a chat model made before they took over."""

from typing import Any

from app.agents.assistant.brief import ChatBrief
from app.agents.assistant.offline_rules import RULES
from app.agents.runtime.conversation import CompletedCall, ConversationView

ROWS = {
    "columns": [{"name": "orders", "type": "integer"}],
    "rows": [[3]],
    "row_count": 1,
    "truncated": False,
    "sql": "SELECT count(*) AS orders FROM sales",
}


def answer(value: dict[str, Any], **arguments: Any) -> str:
    """Return the sentence of the rules about one successful `execute_sql`."""
    call = CompletedCall("execute_sql", {"sql": value["sql"], **arguments}, value)
    view = ConversationView(ChatBrief("how many orders are there?"), (call,))
    return next(action.message for rule in RULES if (action := rule(view)))


def test_rows_of_sql_that_a_chat_model_ran_are_described() -> None:
    assert answer(ROWS) == "orders: 3."
    readings = ["Orders are rows of sales."]
    assert answer(ROWS, readings=readings) == "orders: 3. Orders are rows of sales."


def test_changes_of_tables_that_a_chat_model_made_are_described() -> None:
    changed = {**ROWS, "columns": [], "rows": [], "row_count": 0, "changes": [{"text": "Created sales_2."}]}
    assert answer(changed) == "Created sales_2."
