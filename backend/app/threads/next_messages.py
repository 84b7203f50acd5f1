"""Messages that go on from an answer and that the assistant understands whatever the table is about."""

from collections.abc import Mapping, Sequence
from typing import Any

MAX_DRAWN_ROWS = 60
"""Rows: the bars of a wider chart can no longer be told apart on a phone."""
_SCHEDULE = "do this every weekday at 8"


def suggest_next_messages(outcome: Mapping[str, Any]) -> list[str]:
    """Suggest what to do with the table of an answer: draw it, and answer it anew on weekdays.

    `outcome`: the parts of the answer. A workflow can answer anew what a query plan or steps made.
    """
    table = outcome.get("table")
    if not table or not table.get("row_count") or not (outcome.get("plan") or outcome.get("steps")):
        return []
    types = [column.get("type") for column in table["columns"]]
    # The last column is the figure of a question, those before it its groups.
    is_measured = len(types) == 2 and types[0] != "number" and types[1] in ("number", "integer")
    is_drawable = (
        outcome.get("plan")
        and is_measured
        and 1 < table["row_count"] <= MAX_DRAWN_ROWS
        and not outcome.get("charts")
    )
    kind = "line" if types and types[0] == "datetime" else "bar"
    return [*([f"as a {kind} chart"] if is_drawable else []), _SCHEDULE]


def list_study_options(cards: Sequence[Mapping[str, Any]]) -> list[str]:
    """List the messages that answer the question of the last study of a turn; empty if it asks none.

    `cards`: its studies (`tools.context.conversation_studies.StudyCard`) as JSON.
    """
    question = (cards[-1].get("question") if cards else None) or {}
    return [str(option) for option in question.get("options") or ()]
