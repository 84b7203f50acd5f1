"""Conditions of rows in words, read as those of a question for the rows."""

from typing import NamedTuple

from app.agents.assistant.table_changes.change import ChangeRequest, UnclearTableChange
from app.agents.questions.parsed_question import ParsedQuestion
from app.plans import build
from app.plans.expressions import Expression
from app.plans.plan import DatasetSource, FilterStep


class WordedCondition(NamedTuple):
    """A condition of the rows of one table. `readings`: how ambiguous words of it were taken."""

    table: str
    expression: Expression
    readings: tuple[str, ...] = ()


def read_condition(rows: str, words: str, request: ChangeRequest) -> WordedCondition | UnclearTableChange:
    """Read `where quantity is above 8` of rows, which are a table or a noun for its rows; or say why not."""
    parsed = request.parse_question(f"show the {rows} {words}")
    if not isinstance(parsed, ParsedQuestion):
        return UnclearTableChange(f"“{words}” is not understood. {parsed.reason}")
    source = parsed.plan.source
    conditions = [step.condition for step in parsed.plan.steps if isinstance(step, FilterStep)]
    has_others = any(step.kind not in ("filter", "sort", "select") for step in parsed.plan.steps)
    if not isinstance(source, DatasetSource) or not conditions or has_others:
        return UnclearTableChange(f"“{words}” is about other rows or tables. Use `SQL:` for that.")
    return WordedCondition(source.table, build.every(conditions), tuple(parsed.interpretations))
