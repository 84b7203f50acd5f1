"""Columns of years."""

from app.agents.goals.tables.profiles import Column

MIN_YEAR, MAX_YEAR = 1000, 2200
"""Whole numbers that are taken for years."""


def holds_years(column: Column) -> bool:
    """Tell if a column of whole numbers holds years: `built`, `vintage`."""
    low, high = column.low, column.high
    is_number = isinstance(low, int | float) and isinstance(high, int | float)
    return column.type == "integer" and is_number and MIN_YEAR <= low <= high <= MAX_YEAR
