"""Columns described by their values, in questions and in what was understood."""

from app.agents.goals.series.axis_detection import FIRST_YEAR, LAST_YEAR
from app.agents.goals.tables.profiles import Column

MAX_EXAMPLES = 3
"""Values that are shown: enough to notice a misreading at a glance."""


def describe_values(column: Column) -> str:
    """Describe the values of a column: its range, or its classes, with examples."""
    examples = example_values(column)
    listing = f"for example {', '.join(examples)}" if examples else ""
    if column.distinct == 2 and len(examples) == 2:
        return " or ".join(examples)
    if column.is_number and column.low is not None and column.high is not None:
        unit = f" {column.unit}" if column.unit else ""
        low, high = (_format(bound, is_year=_may_hold_years(column)) for bound in (column.low, column.high))
        extent = f"{low} to {high}{unit}"
        return f"{extent}; {listing}" if listing else extent
    if column.distinct and not column.is_number and column.hint not in ("datetime", "id", "text"):
        return f"{column.distinct} classes; {listing}" if listing else f"{column.distinct} classes"
    return listing


def example_values(column: Column) -> list[str]:
    """Return up to three values of a column: the most frequent ones, or of a number the median."""
    values = column.top[:MAX_EXAMPLES] if column.top else [] if column.median is None else [column.median]
    return [_format(value, is_year=_may_hold_years(column)) for value in values]


def _may_hold_years(column: Column) -> bool:
    """Tell if all numbers of a column may be years, which are written without separators."""
    bounds = (column.low, column.high)
    return column.is_number and all(bound is not None and FIRST_YEAR <= bound <= LAST_YEAR for bound in bounds)


def _format(value: object, *, is_year: bool) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if is_year:
        return f"{value:.0f}" if value == int(value) else f"{value:.4g}"
    return f"{value:,.4g}" if abs(value) < 1e4 and value != int(value) else f"{value:,.0f}"
