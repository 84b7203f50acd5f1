"""How many rows ahead a goal looks."""

from app.agents.goals.goal import Ahead
from app.agents.goals.tables import Table, row_spacing_s


def rows_ahead(ahead: Ahead, table: Table, time_column: str) -> int:
    """The horizon in rows (within a group), at least one; time is turned into rows by their usual spacing."""
    if ahead.rows:
        return ahead.rows
    column = table.column(time_column)
    spacing = row_spacing_s(column) if column else None
    if not spacing or not ahead.seconds:
        return 1
    return max(1, round(ahead.seconds / spacing))
