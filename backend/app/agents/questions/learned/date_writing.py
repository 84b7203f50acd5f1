"""Actions of comparisons with days, months and years that stand in a question."""

from datetime import date, timedelta

from app.agents.questions.learned.grammar import Action, as_token
from app.agents.questions.learned.inputs import QuestionInputs
from app.agents.questions.programs.program import Scalar, Test

_WEEKEND, _WORKDAYS = {"saturday", "sunday"}, {"monday", "tuesday", "wednesday", "thursday", "friday"}


class CannotWriteError(ValueError):
    """A program that the actions of a question cannot say: a value that nothing in it stands for."""


def write_date_test(test: Test, place: int, inputs: QuestionInputs) -> list[Action] | None:
    """Return the actions of a comparison of a date; None of others. `place`: that of its column.

    Raises CannotWriteError for a date that is not in the question.
    """
    term = test.term
    if test.kind not in ("compare", "between", "in") or test.other is not None or term.sign:
        return None
    if inputs.column_kinds[place] != "date":
        return None
    column = Action("column", place)
    if term.part == "weekday" and test.kind == "in":
        days = {str(value).casefold() for value in test.values}
        names = [name for name, own in (("weekend", _WEEKEND), ("workday", _WORKDAYS)) if days == own]
        return [as_token(f"test_{names[0]}"), column] if names else None
    if term.part in ("year", "yearmonth", "yearquarter", "day", None):
        return _write_span_test(test, column, inputs)
    return None


def _write_span_test(test: Test, column: Action, inputs: QuestionInputs) -> list[Action] | None:
    spans = [span for value in test.values if (span := _span_of(value)) is not None]
    if len(spans) < len(test.values) or test.kind == "in":
        return None
    first, last = spans[0], spans[-1]
    if test.kind != "between" and test.sign != "==":
        node, sign = _bound_node(str(test.sign), first, inputs)
        return [as_token(f"test_{sign}"), column, Action("node", node)]
    node_of_all = _date_node(inputs, first[0], last[1])
    if node_of_all is not None:
        return [as_token("test_within"), column, Action("node", node_of_all)]
    start, end = _date_node(inputs, first[0], None), _date_node(inputs, None, last[1])
    if test.kind == "between" and start is not None and end is not None:
        return [as_token("test_between"), column, Action("node", start), Action("node", end)]
    raise CannotWriteError(f"no such date: {test.values}")


def _bound_node(sign: str, span: tuple[date, date], inputs: QuestionInputs) -> tuple[int, str]:
    """The date of the question that a bound is, and the sign with which it is compared as a whole."""
    day = timedelta(days=1)
    edge = span[0] if sign in (">=", "<") else span[1] + day
    as_whole, beside = (">=", ">") if sign in (">", ">=") else ("<", "<=")
    before = _date_node(inputs, None, edge - day)
    if before is not None and sign in (">", "<="):
        return before, beside
    if (node := _date_node(inputs, edge, None)) is not None:
        return node, as_whole
    if before is not None:
        return before, beside
    raise CannotWriteError(f"no such date: {edge}")


def _date_node(inputs: QuestionInputs, start: date | None, end: date | None) -> int | None:
    """The place of the first date with this first and last day, as far as they are given."""
    for place, node in enumerate(inputs.nodes):
        text = node.text
        if text is None or text.kind != "date":
            continue
        if (start is None or text.start == start) and (end is None or text.end == end):
            return place
    return None


def _span_of(value: Scalar) -> tuple[date, date] | None:
    """The first and last day of a year, quarter, month or day."""
    text = str(value)
    try:
        if len(text) == 4:
            return date(int(text), 1, 1), date(int(text), 12, 31)
        if len(text) == 7 and text[5] in "Qq":
            quarter = int(text[6])
            return _months(int(text[:4]), 3 * quarter - 2, 3 * quarter)
        if len(text) == 6 and text[4] in "Qq":
            quarter = int(text[5])
            return _months(int(text[:4]), 3 * quarter - 2, 3 * quarter)
        if len(text) == 7:
            month = int(text[5:])
            return _months(int(text[:4]), month, month)
        day = date.fromisoformat(text[:10])
    except ValueError:
        return None
    return (day, day) if len(text) == 10 else None


def _months(year: int, first: int, last: int) -> tuple[date, date]:
    return date(year, first, 1), date(year + last // 12, last % 12 + 1, 1) - timedelta(days=1)
