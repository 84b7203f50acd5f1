"""Columns made of dates: their parts, and the time between two of them."""

import re

from app.agents.assistant.table_changes.change import (
    ChangeRequest,
    ChangeStatements,
    Reading,
    UnclearTableChange,
    list_names,
    quote,
    select_rows,
    write_table,
)
from app.agents.assistant.table_changes.column_phrases import TableColumns, explain_no_column, find_columns
from app.agents.goals.tables.profiles import Column

_PARTS = {
    "year": "year({0})",
    "quarter": "quarter({0})",
    "month": "month({0})",
    "month name": "monthname({0})",
    "week": "week({0})",
    "day": "day({0})",
    "weekday": "dayname({0})",
    "day of the week": "dayname({0})",
    "day of week": "dayname({0})",
    "day name": "dayname({0})",
    "day of the month": "day({0})",
    "day of the year": "dayofyear({0})",
    "hour": "hour({0})",
    "hour of the day": "hour({0})",
    "minute": "minute({0})",
    "date": "CAST({0} AS DATE)",
}
"""Parts of a date, and their expressions of SQL. Weekdays are names: their numbers differ by country."""
_PART = "|".join(sorted(_PARTS, key=len, reverse=True))
_UNIT = r"(?P<unit>second|minute|hour|day|week|month|year)s?"
_NOUN = r"(?:column|field|feature)s?"
_SAYS_COLUMN = re.compile(rf"\b{_NOUN}\b", re.IGNORECASE)
_CALLED = r"(?: (?:called|named) [`\"']?(?P<{0}>\w{{1,60}})[`\"']?)?"
_MAKE = (
    r"(?P<verb>add|create|make|extract|derive|compute|calculate|insert|append|get)(?: me| us)?"
    r"(?: the| an?)?(?: new)?"
    rf"(?: {_NOUN})?{_CALLED.format('name')}(?: (?:for|with|of|as|holding|containing))?"
)
_AS_COLUMN = rf"(?: (?:as|into|in) (?:an? )?(?:new |extra |separate )?{_NOUN}{_CALLED.format('label')})?"
_OF_DATE = re.compile(
    rf"{_MAKE}(?: the| an?)? (?P<part>{_PART})(?: {_NOUN})? "
    r"(?:of|from|out of|in|for|(?:when |that )?(?:they were|it was)) "
    rf"(?P<date>.{{1,80}}?){_AS_COLUMN}",
    re.IGNORECASE,
)
_SPAN = re.compile(
    rf"{_MAKE}(?: the)?(?: number of| time in| duration in)? {_UNIT} (?:between|from) "
    rf"(?P<start>.{{1,60}}?) (?:and|to|until) (?P<end>.{{1,60}}?){_AS_COLUMN}",
    re.IGNORECASE,
)


def make_date_part(request: ChangeRequest) -> Reading:
    """Read a part of a date that becomes a column.

    Without the word `column` only `extract` and `add` ask for one: `get the month of order_date` is a question.
    """
    match = _OF_DATE.fullmatch(request.text)
    if match is None:
        return None
    if not _SAYS_COLUMN.search(request.text) and match["verb"].casefold() not in ("extract", "add"):
        return None
    columns = find_columns(match["date"], request)
    if not isinstance(columns, TableColumns):
        return columns or explain_no_column(match["date"], request)
    if len(columns.columns) > 1 or not _is_date(columns.columns[0]):
        return _explain_no_date(columns)
    column, part = columns.names[0], match["part"].casefold()
    name = match["name"] or match["label"] or _free_name(part.replace(" ", "_"), column, columns)
    return _add(columns, name, _PARTS[part].format(quote(column)), f"the {part} of `{column}`")


def make_span(request: ChangeRequest) -> Reading:
    """Read the time between two dates that becomes a column."""
    match = _SPAN.fullmatch(request.text)
    if match is None:
        return None
    columns = find_columns(f"{match['start']}, {match['end']}", request)
    if not isinstance(columns, TableColumns) or len(columns.columns) != 2:
        return columns if isinstance(columns, UnclearTableChange) else None
    if not all(map(_is_date, columns.columns)):
        return _explain_no_date(columns)
    (start, end), unit = columns.names, match["unit"].casefold()
    name = match["name"] or match["label"] or _free_name(f"{unit}s", end, columns)
    expression = f"date_diff('{unit}', {quote(start)}, {quote(end)})"
    return _add(columns, name, expression, f"the {unit}s from `{start}` to `{end}`")


def _is_date(column: Column) -> bool:
    return column.type == "datetime" and not column.is_stored_as_text


def _explain_no_date(columns: TableColumns) -> UnclearTableChange:
    names = [column.name for column in columns.columns if not _is_date(column)] or columns.names
    return UnclearTableChange(
        f"{list_names(names)} of {columns.table.name} must be stored as a date first."
        f" Say: convert {names[0]} to a date."
    )


def _free_name(name: str, column: str, columns: TableColumns) -> str:
    used = {other.name.casefold() for other in columns.table.columns}
    return name if name.casefold() not in used else f"{column}_{name}"


def _add(columns: TableColumns, name: str, expression: str, words: str) -> Reading:
    table = columns.table
    if name.casefold() in {column.name.casefold() for column in table.columns}:
        return UnclearTableChange(
            f"{table.name} has a column `{name}` already. Say another name: as a column called ..."
        )
    statement = write_table(table.name, select_rows(table.name, f"*, {expression} AS {quote(name)}"))
    sentence = f"Made the column `{name}`, {words}, in {table.name}."
    return ChangeStatements(table.name, statement, sentence, column=name)
