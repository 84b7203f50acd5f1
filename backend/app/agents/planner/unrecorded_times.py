"""Questions about times after the last stored row, which only a forecast can answer."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from app.agents.goals.tables.profiles import TableProfile
from app.agents.questions.parsed_question import ParsedQuestion
from app.plans.expressions import (
    ColumnExpression,
    CompareExpression,
    Expression,
    LiteralExpression,
    LogicExpression,
)
from app.plans.plan import FilterStep


def asks_after_last_row(parsed: ParsedQuestion, tables: Sequence[TableProfile]) -> bool:
    """Tell if a question keeps only rows after the last time of their column: no stored row answers it."""
    last_times = {
        column.name: str(column.high)
        for table in tables
        if table.name in parsed.tables
        for column in table.columns
        if column.type == "datetime" and column.high is not None
    }
    conditions = (step.condition for step in parsed.plan.steps if isinstance(step, FilterStep))
    bounds = (bound for condition in conditions for bound in _list_lower_bounds(condition))
    return any(column in last_times and _is_later(time, last_times[column]) for column, time in bounds)


def _list_lower_bounds(condition: Expression) -> Iterator[tuple[str, str]]:
    """List the columns with the times that all kept rows are at or after."""
    match condition:
        # Of an `or` no side holds for all rows.
        case LogicExpression(kind="and", operands=operands):
            for operand in operands:
                yield from _list_lower_bounds(operand)
        case CompareExpression(
            op=">=" | ">",
            left=ColumnExpression(name=column),
            right=LiteralExpression(value=str(time), type="datetime"),
        ):
            yield column, time


def _is_later(time: str, last: str) -> bool:
    try:
        # Python refuses to compare a time that has a zone with one that has none.
        first, second = (datetime.fromisoformat(text).replace(tzinfo=None) for text in (time, last))
    except ValueError:
        return False
    return first > second
