"""Conversion of a goal's lookahead to rows."""

from app.agents.goals.goal import Lookahead
from app.agents.goals.tables import TableProfile, row_spacing_s


def count_rows_ahead(lookahead: Lookahead, table: TableProfile, time_column: str) -> int:
    """Return the horizon in rows (within a group), at least 1. Times are divided by the usual row spacing."""
    if lookahead.rows:
        return lookahead.rows
    column = table.column(time_column)
    spacing = row_spacing_s(column) if column else None
    if not spacing or not lookahead.seconds:
        return 1
    return max(1, round(lookahead.seconds / spacing))
