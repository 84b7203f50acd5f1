"""Values that are replaced by others: `replace yes by 1 and no by 0 in returned`."""

import re
from collections.abc import Sequence

from app.agents.assistant.table_changes.change import (
    ChangeRequest,
    ChangeStatements,
    Reading,
    UnclearTableChange,
    list_names,
    quote,
    quote_text,
    replace_columns,
)
from app.agents.assistant.table_changes.column_phrases import TableColumns, find_columns
from app.agents.goals.tables.profiles import Column, TableProfile

_VALUE = r"[`\"'“]?(?P<{0}>[^`\"'“”,]{{1,60}}?)[`\"'”]?"
_REQUEST = re.compile(
    r"(?:replace|map|recode|change|encode|substitute|convert|turn) (?P<pairs>.{3,300}?)"
    r"(?: (?:in|of|for) (?P<column>(?:the )?(?:column )?[`\"']?[\w ]{1,60}?[`\"']?(?: column)?))?",
    re.IGNORECASE,
)
_PAIR = re.compile(
    _VALUE.format("former") + r" (?:by|with|to|into|as|->|=>) " + _VALUE.format("new"), re.IGNORECASE
)
_NEXT = re.compile(r",? and |, ?|; ?", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,9})?")
_NOTHING = frozenset({"null", "missing", "nothing", "na", "n/a", "nan", "empty", "none"})


_VALUES_FOR = re.compile(
    r"(?:change|set|map|encode|recode|turn|make|convert) (?P<column>.{1,60}?) (?:to|into|as) "
    r"(?P<pairs>.{1,40} for .{1,200})",
    re.IGNORECASE,
)
_NEW_FOR_FORMER = re.compile(_VALUE.format("new") + " for " + _VALUE.format("former"), re.IGNORECASE)


def replace_values(request: ChangeRequest) -> Reading:
    """Read values and what replaces them; the column may go without saying where one column has them all."""
    match, form = _VALUES_FOR.fullmatch(request.text), _NEW_FOR_FORMER
    if match is None:
        match, form = _REQUEST.fullmatch(request.text), _PAIR
    if match is None:
        return None
    pairs = [form.fullmatch(part.strip()) for part in _NEXT.split(match["pairs"])]
    values = [(pair["former"], pair["new"]) for pair in pairs if pair is not None]
    if not values or len(values) < len(pairs):
        return None
    columns = find_columns(match["column"], request) if match["column"] else _find_holders(values, request)
    if not isinstance(columns, TableColumns):
        return columns
    if len(columns.columns) != 1:
        return None
    return _replace(columns.table, columns.columns[0], values)


def _find_holders(
    values: Sequence[tuple[str, str]], request: ChangeRequest
) -> TableColumns | UnclearTableChange | None:
    """Find the only column that has all of the values; None where no column has them."""
    holders = [
        TableColumns(table, (column,))
        for table in request.tables
        for column in table.columns
        if all(_find_value(former, column) is not None for former, _ in values)
    ]
    if len(holders) > 1:
        names = list_names([holder.names[0] for holder in holders])
        return UnclearTableChange(f"{names} have these values. Say in which column they are replaced.")
    return holders[0] if holders else None


def _find_value(text: str, column: Column) -> str | None:
    """Find a value of a column as it is stored; case is ignored."""
    stored = [str(value) for value in (*column.values, *column.top)]
    if text in stored:
        return text  # `f` and `F` may be two values
    return next((value for value in stored if value.casefold() == text.casefold()), None)


def _replace(table: TableProfile, column: Column, values: Sequence[tuple[str, str]]) -> Reading:
    stored_values = {former: _find_value(former, column) for former, _ in values}
    missing = [former for former, value in stored_values.items() if value is None]
    if missing and column.values:
        examples = ", ".join(str(value) for value in column.values[:_MAX_LISTED])
        return UnclearTableChange(
            f"`{column.name}` of {table.name} has no value {', '.join(missing)}; it has {examples}."
        )
    is_covered = set(stored_values.values()) >= {str(value) for value in column.values}
    becomes_number = (
        is_covered
        and len(column.values) == column.distinct
        and all(_NUMBER.fullmatch(new) for _, new in values)
    )
    is_text = not becomes_number and not (column.is_number and not column.is_stored_as_text)
    if not is_text and not all(_NUMBER.fullmatch(new) or new.casefold() in _NOTHING for _, new in values):
        return UnclearTableChange(
            f"`{column.name}` of {table.name} holds numbers. Make it text first: convert {column.name} to text."
        )
    name = quote(column.name)
    text = f"CAST({name} AS VARCHAR)"
    cases = " ".join(
        f"WHEN {text} = {quote_text(stored_values[former] or former)} THEN {_write_value(new, is_text)}"
        for former, new in values
    )
    otherwise = "NULL" if becomes_number else text if is_text else name
    changes = ", ".join(f"{stored_values[former] or former} by {new}" for former, new in values)
    return ChangeStatements(
        table.name,
        replace_columns(table.name, {column.name: f"CASE {cases} ELSE {otherwise} END"}),
        f"Replaced {changes} in `{column.name}` of {table.name}.",
    )


_MAX_LISTED = 8
"""Values of a column that a refusal lists."""


def _write_value(text: str, is_text: bool) -> str:
    if text.casefold() in _NOTHING:
        return "NULL"
    return quote_text(text) if is_text else text
