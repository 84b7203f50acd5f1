"""Columns described by their values, in questions and in what was understood."""

from app.agents.goals.tables import Column

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
        extent = f"{_format(column.low)} to {_format(column.high)}{unit}"
        return f"{extent}; {listing}" if listing else extent
    if column.distinct and not column.is_number and column.hint not in ("datetime", "id", "text"):
        return f"{column.distinct} classes; {listing}" if listing else f"{column.distinct} classes"
    return listing


def example_values(column: Column) -> list[str]:
    """Return up to three values of a column: the most frequent ones, or of a number the median."""
    if column.top:
        return [_format(value) for value in column.top[:MAX_EXAMPLES]]
    return [] if column.median is None else [_format(column.median)]


def _format(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,.4g}" if abs(value) < 1e4 and value != int(value) else f"{value:,.0f}"
