"""Columns that a change of a table names: `price and discount`, `the column price in orders`."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from app.agents.assistant.table_changes.change import ChangeRequest, UnclearTableChange, list_names
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.matching.column_mentions import find_column

_TABLE = re.compile(
    r"(?P<columns>.{1,200}?),? (?:in|of|from|on|within) "
    r"(?P<table>(?:the )?(?:table )?[`\"']?\w{1,63}[`\"']?(?: table)?)",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(r",? and |, ?| & ", re.IGNORECASE)
_NOUN = re.compile(
    r"^(?:the |my |all |both )?(?:columns?|fields?|variables?|features?) |^(?:the|my|its) "
    r"|(?<=\S) (?:columns?|fields?|variables?|features?|values?)$",
    re.IGNORECASE,
)


class TableColumns(NamedTuple):
    """Columns of one table."""

    table: TableProfile
    columns: tuple[Column, ...]

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]


def find_columns(phrase: str, request: ChangeRequest) -> TableColumns | UnclearTableChange | None:
    """Find the columns that a phrase lists, all in one table; None where it names anything else.

    Columns that several tables have are asked about, unless the phrase names the table.
    """
    tables = list(request.tables)
    if (match := _TABLE.fullmatch(phrase.strip())) and (table := request.find_table(match["table"])):
        phrase, tables = match["columns"], [table]
    matches = [columns for table in tables if (columns := _find_in_table(phrase, table)) is not None]
    if len(matches) > 1:
        matches = _select_last_used(matches, request)
    if len(matches) > 1:
        names = [match.table.name for match in matches]
        first = matches[0]
        return UnclearTableChange(
            f"{list_names(names)} have {list_names(first.names)}. Say of which table, for example: "
            f"{', '.join(first.names)} in {names[0]}."
        )
    return matches[0] if matches else None


def _select_last_used(matches: list[TableColumns], request: ChangeRequest) -> list[TableColumns]:
    """Select those of the tables that the conversation changed or asked about last: that is worked on."""
    for turn in reversed(request.earlier):
        source = (turn.plan or {}).get("source", {})
        names = {*turn.changed, source.get("table")}
        if used := [match for match in matches if match.table.name in names]:
            return used
    return matches


def _find_in_table(phrase: str, table: TableProfile) -> TableColumns | None:
    """Find the columns of a phrase in one table; None where a part names none of it."""
    names = [column.name for column in table.columns]
    # A name may hold an `and`: the whole phrase comes first.
    if (name := _find_name(phrase, names)) is not None:
        return TableColumns(table, _select(table, [name]))
    resolved = [_find_name(part, names) for part in _SEPARATOR.split(phrase)]
    if any(name is None for name in resolved):
        return None
    return TableColumns(table, _select(table, [name for name in resolved if name is not None]))


def _find_name(phrase: str, names: Sequence[str]) -> str | None:
    plain = phrase.strip(" `\"'")
    exact = next((name for name in names if name.casefold() == plain.casefold()), None)
    if exact is not None:
        return exact
    bare = _NOUN.sub("", _NOUN.sub("", plain)).strip(" `\"'")
    return find_column(bare, names) if bare else None


def _select(table: TableProfile, names: Sequence[str]) -> tuple[Column, ...]:
    by_name = {column.name: column for column in table.columns}
    return tuple(by_name[name] for name in dict.fromkeys(names))


def explain_no_column(phrase: str, request: ChangeRequest) -> UnclearTableChange:
    """Say that a phrase names no column, and which there are."""
    columns_by_table = "; ".join(
        f"{table.name} has {list_names([column.name for column in table.columns[:_MAX_LISTED]])}"
        for table in request.tables[:_MAX_TABLES]
    )
    return UnclearTableChange(f"There is no column “{phrase.strip()}”: {columns_by_table}.")


_MAX_LISTED = 12
"""Columns of a table that a refusal lists."""
_MAX_TABLES = 3
"""Tables whose columns a refusal lists."""
