"""Words for missing values, and the columns of which a message means them."""

import re

from app.agents.assistant.table_changes.change import ChangeRequest, UnclearTableChange, list_names
from app.agents.assistant.table_changes.column_phrases import TableColumns, explain_no_column, find_columns
from app.agents.goals.tables.profiles import Column, TableProfile

GAP = r"(?:missing|null|empty|blank|nan|na|n/a|unknown)"
"""Adjectives of a value that is not there."""
GAPS = rf"(?:{GAP}s?(?: (?:values?|cells?|entries|ones|data))?)"
"""Nouns for values that are not there."""
_ALL_COLUMNS = re.compile(
    r"(?:the |my |all )?(?:data|table|dataset|columns?|numbers|rows|everything|it)", re.IGNORECASE
)


def find_gaps(
    phrase: str | None, request: ChangeRequest, points_back: bool = False
) -> TableColumns | UnclearTableChange:
    """Find the columns that a phrase names; without one, or for a whole table, all that have missing values.

    `points_back`: the message says `them`, which are the gaps that the message before spoke of.
    """
    table_of_phrase = request.find_table(phrase) if phrase else None
    if phrase and table_of_phrase is None and not _ALL_COLUMNS.fullmatch(phrase):
        return find_columns(phrase, request) or explain_no_column(phrase, request)
    tables = [table_of_phrase] if table_of_phrase else list(request.tables)
    names_before = _list_spoken(request) if points_back and phrase is None else frozenset()
    gapped = [
        TableColumns(table, columns) for table in tables if (columns := _list_gapped(table, names_before))
    ]
    if not gapped:
        return UnclearTableChange("No value is missing there, so nothing was changed.")
    if len(gapped) > 1:
        names = list_names([columns.table.name for columns in gapped])
        return UnclearTableChange(f"Values are missing in {names}. Say in which column, or of which table.")
    return gapped[0]


def _list_gapped(table: TableProfile, names: frozenset[str]) -> tuple[Column, ...]:
    return tuple(column for column in table.columns if column.missing and (not names or column.name in names))


def _list_spoken(request: ChangeRequest) -> frozenset[str]:
    """List the columns with gaps that the message before names, or that its query reads."""
    if not request.earlier:
        return frozenset()
    last = request.earlier[-1]
    text = f"{last.message} {last.plan or ''}".casefold()
    return frozenset(
        column.name
        for table in request.tables
        for column in table.columns
        if column.missing and column.name.casefold() in text
    )
