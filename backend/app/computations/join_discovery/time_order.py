"""Time order of joined rows: rows later than a row may not be aggregated for it."""
# ruff: noqa: S608 - names are quoted

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

import duckdb

from app.computations.join_discovery.keys import JoinKey
from app.computations.join_discovery.tables import JoinTable, key_cell
from app.plans.identifiers import quote_identifier

SAMPLE_ROWS = 2_000
"""Rows of the left table that are compared."""
MIN_EARLIER_SHARE = 0.2
"""Share of earlier rows for a cutoff: if hardly any is earlier, the date is the start of all events."""
_MAX_LATER_SHARE = 0.001
"""Share of later rows that counts as none."""
_BIRTH = re.compile(r"birth|born|(^|_)dob($|_)|geburt|naissance|nacimiento", re.IGNORECASE)


def find_time_columns(side: JoinTable, keys: Collection[str]) -> list[str]:
    """Find the columns that date a row; a date of birth does not, nor does a key."""
    return [
        name
        for name, kind in side.types.items()
        if kind == "datetime" and name not in {*side.parsers, *keys} and not _BIRTH.search(name)
    ]


def find_cutoff(
    connection: duckdb.DuckDBPyConnection, left: JoinTable, right: JoinTable, key: JoinKey
) -> tuple[JoinKey, str]:
    """Add the time columns by which later rows are left out of aggregates; return the key and a warning, or "".

    Judged by the matching rows of both tables: nothing is left out if no row is later, or if a table has no
    date. Of several dates of the left, the earliest one that has rows before it is used.
    """
    left_times = find_time_columns(left, {column for column, _ in key.pairs})
    right_times = find_time_columns(right, {column for _, column in key.pairs})
    if not left_times or not right_times:
        return key, "" if key.is_lookup else _undated(left, right, left_times, right_times)
    orders = [
        order
        for order in _count_by_time(connection, left, right, key, left_times, right_times[0])
        if order.before + order.later
    ]
    if all(order.later_share < _MAX_LATER_SHARE for order in orders):
        return key, ""
    if not key.is_lookup:
        for order in orders:
            if order.later_share <= 1 - MIN_EARLIER_SHARE:
                return replace(key, as_of=(order.moment, right_times[0])), ""
    share, moment = max((order.later_share, order.moment) for order in orders)
    return key, f"{share:.0%} of its rows are later than `{moment}` and may not be known at prediction time"


def _undated(left: JoinTable, right: JoinTable, left_times: list[str], right_times: list[str]) -> str:
    if not left_times and not right_times:
        return ""
    if left_times:
        return f"`{right.name}` has no date, so its rows from after a row of `{left.name}` count too"
    return f"`{left.name}` has no date, so rows of any date count"


@dataclass(frozen=True)
class TimeOrder:
    """Number of matching rows of the right before and after a time column of the left."""

    moment: str
    before: int
    later: int

    @property
    def later_share(self) -> float:
        return self.later / (self.before + self.later)


def _count_by_time(
    connection: duckdb.DuckDBPyConnection,
    left: JoinTable,
    right: JoinTable,
    key: JoinKey,
    left_times: list[str],
    right_time: str,
) -> Iterator[TimeOrder]:
    """Yield the counts of each time column of the left, the earliest on average first."""
    on = " AND ".join(
        f"{key_cell('l', left, column)} = {key_cell('r', right, other)}" for column, other in key.pairs
    )
    cells = ", ".join(
        f"avg(epoch(l.{quote_identifier(column)})),"
        f" count(*) FILTER (r.{quote_identifier(right_time)} < l.{quote_identifier(column)}),"
        f" count(*) FILTER (r.{quote_identifier(right_time)} > l.{quote_identifier(column)})"
        for column in left_times
    )
    # Repeatable, so that the same tables are always joined in the same way.
    sampling = f"USING SAMPLE reservoir({SAMPLE_ROWS} ROWS) REPEATABLE (0)"
    sample = f"(SELECT * FROM {quote_identifier(left.name)} {sampling})"
    query = f"SELECT {cells} FROM {sample} AS l JOIN {quote_identifier(right.name)} AS r ON {on}"
    row = connection.execute(query).fetchone() or ()
    means = [(row[offset], column) for offset, column in zip(range(0, len(row), 3), left_times, strict=True)]
    for _, column in sorted((mean, column) for mean, column in means if mean is not None):
        offset = 3 * left_times.index(column)
        yield TimeOrder(column, int(row[offset + 1]), int(row[offset + 2]))
