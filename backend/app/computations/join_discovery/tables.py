"""Uploaded tables as far as joining them needs: columns with types, rows, and how many-sided a key is."""
# ruff: noqa: S608 - names are quoted

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import duckdb

from app.computations.uploads import sql
from app.computations.uploads.profile import TYPES
from app.modeling.type_inference.decisions import infer_types, make_parsers
from app.modeling.type_inference.parsers import ColumnParser, parsers_by_column

LOOKED_AT = 2_000


@dataclass(frozen=True)
class Side:
    """`types`: column -> plain type in the file; `ways` and `kinds`: how text is read, and as what."""

    name: str
    rows: int
    types: dict[str, str]
    ways: dict[str, ColumnParser] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()

    def without(self, column: str) -> "Side":
        if column not in self.types:
            return self
        types = {name: kind for name, kind in self.types.items() if name != column}
        return replace(self, types=types, hidden=(*self.hidden, column))


def look(connection: duckdb.DuckDBPyConnection, table: str) -> Side:
    described = connection.execute(f"DESCRIBE {sql.name(table)}").fetchall()
    types = {row[0]: TYPES.get(row[1], "text") for row in described}
    rows = connection.execute(f"SELECT count(*) FROM {sql.name(table)}").fetchone() or (0,)
    sample = connection.execute(f"SELECT * FROM {sql.name(table)} LIMIT {LOOKED_AT}").df()
    decided = infer_types(sample)
    kinds = {one.column: one.reads_as for one in decided if one.reads_as != "text"}
    return Side(table, int(rows[0]), types, parsers_by_column(make_parsers(decided)), kinds)


def rows_and_keys(connection: duckdb.DuckDBPyConnection, side: Side, keys: Sequence[str]) -> tuple[int, int]:
    """Rows that have the keys, and how many different keys: as many where they name the rows."""
    named = ", ".join(key_cell("", side, key) for key in keys)
    present = " AND ".join(f"{sql.name(key)} IS NOT NULL" for key in keys)
    query = f"SELECT count(*), count(DISTINCT ({named})) FROM {sql.name(side.name)} WHERE {present}"
    rows, distinct = connection.execute(query).fetchone() or (0, 0)
    return int(rows), int(distinct)


def shared_values(
    connection: duckdb.DuckDBPyConnection, left: Side, right: Side, pairs: Sequence[tuple[str, str]]
) -> tuple[float, float]:
    """The share of the left's different keys that the right has, and of the right's that the left has."""
    ours, theirs = (_keys(side, [pair[n] for pair in pairs]) for n, side in enumerate((left, right)))
    query = (
        f"SELECT (SELECT count(*) FROM {ours}), (SELECT count(*) FROM {theirs}),"
        f" (SELECT count(*) FROM ({ours[1:-1]} INTERSECT {theirs[1:-1]}))"
    )
    mine, other, both = connection.execute(query).fetchone() or (0, 0, 0)
    return (both / mine if mine else 0.0), (both / other if other else 0.0)


def _keys(side: Side, columns: Sequence[str]) -> str:
    cells = ", ".join(key_cell("", side, column) for column in columns)
    return f"(SELECT DISTINCT {cells} FROM {sql.name(side.name)} WHERE {sql.name(columns[0])} IS NOT NULL)"


def key_cell(alias: str, side: Side, column: str) -> str:
    """A key as it is compared: text in lower case without space around, numbers and times by their value."""
    cell = f"{alias}.{sql.name(column)}" if alias else sql.name(column)
    kind = side.types[column]
    if kind == "text":
        return f"lower(trim(CAST({cell} AS VARCHAR)))"
    return f"CAST({cell} AS VARCHAR)" if kind == "integer" else cell


def stems(name: str) -> tuple[str, ...]:
    """The words of a name, without plural endings: `Customers`, `customerId` -> customer; customer, id."""
    words = re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name))
    return tuple(re.sub(r"(?<=\w{3})s$", "", re.sub(r"ies$", "y", word.lower())) for word in words)
