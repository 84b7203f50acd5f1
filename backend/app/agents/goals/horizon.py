"""Conversion of a goal's lookahead to rows."""

from app.agents.goals.goal import Lookahead
from app.agents.goals.tables.profiles import TableProfile, row_spacing_s


def is_counted_in_rows(lookahead: Lookahead, table: TableProfile, time_column: str) -> bool:
    """Tell if a lookahead comes to a number of rows: in words, or by a spacing of rows that is known."""
    column = table.column(time_column)
    return bool(lookahead.rows or (lookahead.seconds and column and row_spacing_s(column)))


def count_rows_ahead(lookahead: Lookahead, table: TableProfile, time_column: str) -> int:
    """Return the horizon in rows (within a group), at least 1. Times are divided by the usual row spacing."""
    if lookahead.rows:
        return lookahead.rows
    column = table.column(time_column)
    spacing = row_spacing_s(column) if column else None
    if not spacing or not lookahead.seconds:
        return 1
    return max(1, round(lookahead.seconds / spacing))
