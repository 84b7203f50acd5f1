"""Conversion of a goal's lookahead to rows."""

from app.agents.goals.goal import Lookahead
from app.agents.goals.tables.profiles import TableProfile, row_spacing_s
from app.agents.goals.words.vocabulary import SECONDS_BY_UNIT

MIN_TRADING_DAY_S, MAX_TRADING_DAY_S = 1.38 * SECONDS_BY_UNIT["day"], 1.5 * SECONDS_BY_UNIT["day"]
"""Usual spacing of rows of trading days: five in a week are 1.4 days apart, 250 in a year 1.46."""


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
    if lookahead.counts_days and MIN_TRADING_DAY_S <= spacing <= MAX_TRADING_DAY_S:
        spacing = SECONDS_BY_UNIT["day"]  # "the next 10 days" of prices are ten rows
    return max(1, round(lookahead.seconds / spacing))
