"""The inputs of a table of persons: their names, their meaning and their SQL over the rows before a cutoff.

The end of a name is read as its unit: it is the column's, and no number of days.

The SQL sees `moment`, `is_activity`, the amounts and the categories of rows that lie before `cutoff`, and no
other row: see `person_sql`.
"""

from collections.abc import Iterator
from typing import NamedTuple

from app.agents.goals.persons.person_table import PersonTable
from app.counts import describe_count

DAY_S = 86_400.0
RECENCY = "days since last"
"""Name of the input that tells by itself the most of who comes back."""


class PersonFeature(NamedTuple):
    """An input: its name, its meaning in words, and the SQL that aggregates the rows of a person."""

    name: str
    meaning: str
    sql: str


def recent_rows(table: PersonTable) -> str:
    """Return the name of the rows in the horizon before a cutoff."""
    return f"last {table.horizon_days}-day rows"


def recent_total(table: PersonTable, amount: str) -> str:
    """Return the name of the sum of an amount in the horizon before a cutoff."""
    return f"last {table.horizon_days}-day sum of {amount}"


def list_features(table: PersonTable) -> list[PersonFeature]:
    """List the inputs that are made of rows."""
    features = [*_times(table), *_counts(table)]
    for place, name in enumerate(table.amounts):
        features += _amounts(table, name, f"amount_{place}")
    for place, name in enumerate(table.categories):
        features += _categories(name, f"category_{place}")
    return features


def _days(later: str, earlier: str) -> str:
    return f"date_diff('second', {earlier}, {later}) / {DAY_S}"


def _times(table: PersonTable) -> Iterator[PersonFeature]:
    recency, tenure = _days("cutoff", "max(moment)"), _days("cutoff", "min(moment)")
    # Several rows of a day are mostly one visit, so that gaps are counted between days.
    days = "count(DISTINCT CAST(moment AS DATE))"
    gap = f"CASE WHEN {days} > 1 THEN ({_days('max(moment)', 'min(moment)')}) / ({days} - 1) END"
    yield PersonFeature(RECENCY, "days from the last row to the cutoff (recency)", recency)
    yield PersonFeature("days since first", "days from the first row to the cutoff (tenure)", tenure)
    yield PersonFeature("mean days between", "mean days between days with rows; none after a single one", gap)
    ratio = f"({recency}) / NULLIF({gap}, 0)"
    yield PersonFeature("gaps since last", "`days since last` as a multiple of `mean days between`", ratio)
    yield PersonFeature("days with rows", "different days with rows (frequency)", days)


def _recent(table: PersonTable, spans: int = 1) -> str:
    """SQL of the condition that a row lies in the last `spans` horizons before the cutoff."""
    return f"moment >= cutoff - to_days({table.horizon_days * spans})"


def _counts(table: PersonTable) -> Iterator[PersonFeature]:
    days = describe_count(table.horizon_days, "day")
    recent = f"count(*) FILTER (is_activity AND {_recent(table)})"
    former = f"count(*) FILTER (is_activity AND {_recent(table, 2)} AND NOT {_recent(table)})"
    yield PersonFeature("rows so far", "rows before the cutoff", "count(*) FILTER (is_activity)")
    yield PersonFeature(recent_rows(table), f"rows in the {days} before the cutoff", recent)
    yield PersonFeature(
        f"change of {table.horizon_days}-day rows",
        f"rows in the {days} before the cutoff less those of the {days} before them (trend)",
        f"{recent} - {former}",
    )
    if table.returns:
        yield PersonFeature(
            "returns so far", f"rows with `{table.returns}` below zero", "count(*) FILTER (NOT is_activity)"
        )


def _amounts(table: PersonTable, name: str, cell: str) -> Iterator[PersonFeature]:
    days = describe_count(table.horizon_days, "day")
    yield PersonFeature(f"sum of {name}", f"sum of `{name}` before the cutoff", f"sum({cell})")
    yield PersonFeature(f"mean {name}", f"mean of `{name}` before the cutoff", f"avg({cell})")
    yield PersonFeature(f"largest {name}", f"largest `{name}` before the cutoff", f"max({cell})")
    last = f"arg_max({cell}, moment)"
    yield PersonFeature(f"last {name}", f"`{name}` of the last row before the cutoff", last)
    recent = f"COALESCE(sum({cell}) FILTER ({_recent(table)}), 0)"
    meaning = f"sum of `{name}` in the {days} before the cutoff"
    yield PersonFeature(recent_total(table, name), meaning, recent)


def _categories(name: str, cell: str) -> Iterator[PersonFeature]:
    different = f"count(DISTINCT {cell})"
    yield PersonFeature(f"different {name}", f"different values of `{name}` before the cutoff", different)
    # Of a column that never changes for a person this is its constant, taken from before the cutoff too.
    last = f"arg_max({cell}, moment)"
    yield PersonFeature(f"latest {name}", f"`{name}` of the last row before the cutoff", last)
