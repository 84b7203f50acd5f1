"""Bins of equal width over the numbers or moments of a column."""

import datetime as dt
import math
from collections.abc import Sequence

from app.computations.tables.row_conditions import QueryColumn
from app.json_types import JsonValue

MEASURED = frozenset({"integer", "number", "datetime"})
"""Types of columns that have bins."""
_WIDENING = 1 + 1e-12
"""Factor of the width of a bin, so that rounding does not put the largest value into a bin after the last."""
_MICROSECONDS = 1_000_000
"""Microseconds of a second; moments are counted in them."""
_EPOCH = dt.datetime(1970, 1, 1)
"""Begin of the count, in UTC like all moments of tables, which have no zone."""


def value_sql(column: QueryColumn) -> str:
    """SQL of a cell; null where it is no finite number, as in the answers of the API."""
    return f"CASE WHEN isfinite({column.sql}) THEN {column.sql} END" if column.type == "number" else column.sql


def axis_sql(column: QueryColumn) -> str:
    """SQL of the place of a cell on the axis of its bins: its number, or the microseconds since 1970."""
    if column.type == "datetime":
        return f"epoch_us({column.sql}::timestamp)::double"
    return f"({value_sql(column)})::double"


def bin_edges(low: float, high: float, type_: str, bins: int) -> list[float]:
    """Return the edges of at most `bins` bins from `low` to `high`, places on the axis.

    Bins of whole numbers have the same number of them, else bins with one more would look like peaks.
    """
    if type_ == "integer":
        numbers = high - low + 1
        width = math.ceil(numbers / bins)
        return [low - 0.5 + width * step for step in range(math.ceil(numbers / width) + 1)]
    if low == high:
        return [low, high]
    # Divided first: the distance of two finite numbers need not be finite.
    return [low + (high / bins - low / bins) * step for step in range(bins)] + [high]


def bin_sql(column: QueryColumn, edges: Sequence[float]) -> str:
    """SQL of the number of the bin of a cell, from 0; null for a missing cell."""
    width = (edges[1] - edges[0] or 1.0) * _WIDENING
    # Quarters: the distance of two finite numbers need not be finite.
    return f"floor(({axis_sql(column)} / 4 - {edges[0] / 4!r}) / {width / 4!r})::integer"


def edge_to_json(place: float, type_: str) -> JsonValue:
    """Write an edge as the API writes cells: a number, or a moment in ISO 8601."""
    if type_ == "datetime":
        return (_EPOCH + dt.timedelta(seconds=place / _MICROSECONDS)).isoformat()
    return place if math.isfinite(place) else None
