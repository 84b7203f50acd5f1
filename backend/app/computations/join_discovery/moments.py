"""When the rows of two tables happened: what comes after a row may not be summed up for it."""
# ruff: noqa: S608 - names are quoted

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

import duckdb

from app.computations.join_discovery.keys import Key
from app.computations.join_discovery.tables import Side, key_cell
from app.computations.uploads import sql

LOOKED_AT = 2_000
ENOUGH_BEFORE = 0.2
"""Share of dated rows that lie before: where hardly any does, the date is one from which on things happen."""
_HARDLY = 0.001
_BIRTH = re.compile(r"birth|born|(^|_)dob($|_)|geburt|naissance|nacimiento", re.IGNORECASE)


def moments_of(side: Side, keys: Collection[str]) -> list[str]:
    """Columns that say when a row happened; a date of birth does not, nor does a key."""
    return [
        name
        for name, kind in side.types.items()
        if kind == "datetime" and name not in {*side.ways, *keys} and not _BIRTH.search(name)
    ]


def in_time(connection: duckdb.DuckDBPyConnection, left: Side, right: Side, key: Key) -> tuple[Key, str]:
    """The key, with the moments by which later rows are left out of sums; and what to beware of, if anything.

    Judged by the rows of both that meet: nothing is left out where none is later, and nothing can be where a
    table has no date. Of several dates the left's earliest decides that has rows before it.
    """
    ours, theirs = (
        moments_of(left, {mine for mine, _ in key.pairs}),
        moments_of(right, {o for _, o in key.pairs}),
    )
    if not ours or not theirs:
        return key, "" if key.is_lookup else _undated(left, right, ours, theirs)
    counted = [one for one in _counted(connection, left, right, key, ours, theirs[0]) if one.before + one.later]
    if all(one.later_share < _HARDLY for one in counted):
        return key, ""
    if not key.is_lookup:
        for one in counted:
            if one.later_share <= 1 - ENOUGH_BEFORE:
                return replace(key, as_of=(one.moment, theirs[0])), ""
    share, moment = max((one.later_share, one.moment) for one in counted)
    return key, f"{share:.0%} of its rows are later than `{moment}`, and may not be known when you predict"


def _undated(left: Side, right: Side, ours: list[str], theirs: list[str]) -> str:
    if not ours and not theirs:
        return ""
    if ours:
        return f"`{right.name}` carries no date, so what came after a row of `{left.name}` counts too"
    return f"`{left.name}` carries no date, so rows of any date count"


@dataclass(frozen=True)
class Counted:
    """How many of the right's rows lie before and after a moment of the left's."""

    moment: str
    before: int
    later: int

    @property
    def later_share(self) -> float:
        return self.later / (self.before + self.later)


def _counted(
    connection: duckdb.DuckDBPyConnection, left: Side, right: Side, key: Key, ours: list[str], theirs: str
) -> Iterator[Counted]:
    """Each of the left's moments, the earliest first."""
    on = " AND ".join(
        f"{key_cell('l', left, mine)} = {key_cell('r', right, other)}" for mine, other in key.pairs
    )
    cells = ", ".join(
        f"avg(epoch(l.{sql.name(mine)})),"
        f" count(*) FILTER (r.{sql.name(theirs)} < l.{sql.name(mine)}),"
        f" count(*) FILTER (r.{sql.name(theirs)} > l.{sql.name(mine)})"
        for mine in ours
    )
    sample = f"(SELECT * FROM {sql.name(left.name)} USING SAMPLE reservoir({LOOKED_AT} ROWS) REPEATABLE (0))"
    query = f"SELECT {cells} FROM {sample} AS l JOIN {sql.name(right.name)} AS r ON {on}"
    row = connection.execute(query).fetchone() or ()
    found = [(row[place], mine) for place, mine in zip(range(0, len(row), 3), ours, strict=True)]
    for _, mine in sorted((mean, mine) for mean, mine in found if mean is not None):
        place = 3 * ours.index(mine)
        yield Counted(mine, int(row[place + 1]), int(row[place + 2]))
