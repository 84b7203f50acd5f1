"""Tables to join: columns with types, row counts, and the multiplicity of keys."""
# ruff: noqa: S608 - names are quoted

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import duckdb

from app.computations.uploads.profile import TYPES
from app.modeling.type_inference.column_decisions import infer_types, make_parsers
from app.modeling.type_inference.parsers import ColumnParser, parsers_by_column
from app.plans.identifiers import quote_identifier

SAMPLE_ROWS = 2_000
"""First rows that types are inferred from."""


@dataclass(frozen=True)
class JoinTable:
    """An uploaded table. `types`: column -> plain type in the file; `parsers` and `kinds`: how text is
    parsed, and to what."""

    name: str
    rows: int
    types: dict[str, str]
    parsers: dict[str, ColumnParser] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()

    def without(self, column: str) -> "JoinTable":
        if column not in self.types:
            return self
        types = {name: kind for name, kind in self.types.items() if name != column}
        return replace(self, types=types, hidden=(*self.hidden, column))


def inspect_table(connection: duckdb.DuckDBPyConnection, table: str) -> JoinTable:
    described = connection.execute(f"DESCRIBE {quote_identifier(table)}").fetchall()
    types = {row[0]: TYPES.get(row[1], "text") for row in described}
    rows = connection.execute(f"SELECT count(*) FROM {quote_identifier(table)}").fetchone() or (0,)
    sample = connection.execute(f"SELECT * FROM {quote_identifier(table)} LIMIT {SAMPLE_ROWS}").df()
    decisions = infer_types(sample)
    kinds = {decision.column: decision.reads_as for decision in decisions if decision.reads_as != "text"}
    return JoinTable(table, int(rows[0]), types, parsers_by_column(make_parsers(decisions)), kinds)


def count_rows_and_keys(
    connection: duckdb.DuckDBPyConnection, side: JoinTable, keys: Sequence[str]
) -> tuple[int, int]:
    """Count the rows that have the keys, and the distinct keys: equal if the keys identify the rows."""
    cells = ", ".join(key_cell("", side, key) for key in keys)
    present = " AND ".join(f"{quote_identifier(key)} IS NOT NULL" for key in keys)
    query = f"SELECT count(*), count(DISTINCT ({cells})) FROM {quote_identifier(side.name)} WHERE {present}"
    rows, distinct = connection.execute(query).fetchone() or (0, 0)
    return int(rows), int(distinct)


def match_shares(
    connection: duckdb.DuckDBPyConnection, left: JoinTable, right: JoinTable, pairs: Sequence[tuple[str, str]]
) -> tuple[float, float]:
    """Share of the left's distinct keys that the right has, and of the right's that the left has."""
    left_keys, right_keys = (_keys(side, [pair[n] for pair in pairs]) for n, side in enumerate((left, right)))
    query = (
        f"SELECT (SELECT count(*) FROM {left_keys}), (SELECT count(*) FROM {right_keys}),"
        f" (SELECT count(*) FROM ({left_keys[1:-1]} INTERSECT {right_keys[1:-1]}))"
    )
    left_count, right_count, shared = connection.execute(query).fetchone() or (0, 0, 0)
    return (shared / left_count if left_count else 0.0), (shared / right_count if right_count else 0.0)


def _keys(side: JoinTable, columns: Sequence[str]) -> str:
    cells = ", ".join(key_cell("", side, column) for column in columns)
    first = quote_identifier(columns[0])
    return f"(SELECT DISTINCT {cells} FROM {quote_identifier(side.name)} WHERE {first} IS NOT NULL)"


def key_cell(alias: str, side: JoinTable, column: str) -> str:
    """SQL of a key for comparison: text trimmed in lower case, numbers and times by value."""
    cell = f"{alias}.{quote_identifier(column)}" if alias else quote_identifier(column)
    kind = side.types[column]
    if kind == "text":
        return f"lower(trim(CAST({cell} AS VARCHAR)))"
    # As text, since the other table may have the same key as text.
    return f"CAST({cell} AS VARCHAR)" if kind == "integer" else cell


def stem_words(name: str) -> tuple[str, ...]:
    """Split a name into words without plural endings: `Customers`, `customerId` -> customer; customer, id."""
    words = re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name))
    return tuple(re.sub(r"(?<=\w{3})s$", "", re.sub(r"ies$", "y", word.lower())) for word in words)
