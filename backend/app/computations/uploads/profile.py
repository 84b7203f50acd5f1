"""Profile of a table, column by column, in one pass; exact for small tables, marked where approximate.

Of tables over EXACT_ROWS, distinct counts of measurements, and of columns with many values, are HyperLogLog
estimates; of tables over ten million rows, quartiles are t-digests. Extremes, means, missing counts and top
values are always exact.
"""

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd

from app.computations.uploads import sql
from app.computations.uploads.column_meanings import add_meanings
from app.computations.uploads.meaning_guess import hint
from app.json_types import JsonValue
from app.modeling.type_inference.type_decision import TypeDecision
from app.plans.identifiers import quote_identifier

EXACT_ROWS = 100_000
"""Rows of tables with exact distinct counts."""
_EXACT_QUARTILE_ROWS = 10_000_000
_IN_MEMORY_CELLS = 5_000_000
"""Cells of tables that are loaded once instead of read from the file for each query."""
_IN_MEMORY = "profiled"
"""Table that is loaded once."""
_PART_COLUMNS = 100
"""Columns of a part of a wide table: few for a query to bind, and many enough that there are few parts."""
_MAX_COPIED_CELLS = 60_000_000
"""Cells of a wide table that are copied to its parts: half a gigabyte, of which most is spilled to disk."""
_QUARTERS = "[0.25, 0.5, 0.75]"
# DuckDB 2.0 crashes on tens of thousands of aggregates in one query.
_AGGREGATES_AT_ONCE = 1_000
_TOP = 10
"""Most frequent values that are listed."""
_TOP_DISTINCT = 5_000
"""Distinct values of columns whose values are counted."""
_COUNTED_DISTINCT = 50_000
"""Distinct times and keys up to which they are counted: counting takes 0.15 s of five million rows."""
_EXAMPLES = 5
_MAX_VALUES, _MAX_VALUES_CHARS = 200, 6_000
"""Distinct texts of a column that are all listed, and characters of all lists of a table: questions name any of
them, and agents read the profile."""
_MAX_SHOWN_CHARS = 120

_NUMBERS = {"integer", "number"}
TYPES = {"BIGINT": "integer", "DOUBLE": "number", "BOOLEAN": "boolean", "TIMESTAMP": "datetime"}

# Fact -> aggregate of column {c}; `{quartiles}` depends on the size of the table.
_EVERY = {"present": "count({c})", "distinct": "approx_count_distinct({c})"}
_MEASURED = {"min": "min({c})", "max": "max({c})"}
_AGGREGATES: dict[str, dict[str, str]] = {
    "integer": _EVERY
    | _MEASURED
    | {"mean": "avg({c})", "std": "stddev_samp({c}::DOUBLE)", "quartiles": "{quartiles}"},
    "number": _EVERY | _MEASURED | {"mean": "avg({c})", "std": "stddev_samp({c})", "quartiles": "{quartiles}"},
    "boolean": _EVERY,
    "datetime": _EVERY | _MEASURED,
    "text": _EVERY
    | {"min_length": "min(length({c}))", "max_length": "max(length({c}))", "mean_length": "avg(length({c}))"},
}


def profile_table(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    decisions: Sequence[TypeDecision] | None = None,
    sample: pd.DataFrame | None = None,
) -> dict[str, JsonValue]:
    """Profile a Parquet file: `{"rows", "approximate", "columns": [...]}`, without NaN and infinity.

    `decisions` on its columns and their typed `sample`, as of `column_meanings.add_meanings`.
    """
    source = f"read_parquet({sql.text(path)})"
    described = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()  # noqa: S608
    columns = [(row[0], TYPES.get(row[1], "text")) for row in described]
    rows = _fetch_row(connection, f"SELECT count(*) FROM {source}")[0]  # noqa: S608
    if rows * len(columns) <= _IN_MEMORY_CELLS:
        connection.execute(f"CREATE TEMP TABLE {_IN_MEMORY} AS FROM {source}")
        source = _IN_MEMORY
    parts = _split_columns(connection, source, [name for name, _ in columns], rows)
    facts = _aggregate(connection, parts, columns, rows)
    if EXACT_ROWS < rows <= _EXACT_QUARTILE_ROWS:
        _add_quartiles(connection, parts, columns, facts)
    tops = _tops(connection, parts, columns, facts, rows)
    _count_distinct(connection, parts, columns, facts)
    _add_unique(connection, parts, columns, facts)
    examples = _examples(connection, source, columns)
    values = _list_values(connection, parts, columns, facts)
    profiled = [
        _column(name, type_, rows, facts[name], tops.get(name, []), examples[name])
        | ({"values": values[name]} if name in values else {})
        for name, type_ in columns
    ]
    if rows:
        add_meanings(connection, source, rows, profiled, decisions, sample)
    return {"rows": rows, "approximate": rows > EXACT_ROWS, "columns": [*profiled]}


def _split_columns(
    connection: duckdb.DuckDBPyConnection, source: str, names: Sequence[str], rows: int
) -> Mapping[str, str]:
    """Return the table of each column: of a wide table one with few columns.

    DuckDB binds all columns of a table in each query, and there is a query for each column: 4,000 columns of
    one row took 20 s of processor time, and of 3,000 rows 40 s where each query read the file.
    """
    if len(names) <= _PART_COLUMNS or rows * len(names) > _MAX_COPIED_CELLS:
        return dict.fromkeys(names, source)
    parts: dict[str, str] = {}
    for first in range(0, len(names), _PART_COLUMNS):
        part, own_names = f"{_IN_MEMORY}_{first}", names[first : first + _PART_COLUMNS]
        cells = ", ".join(map(quote_identifier, own_names))
        connection.execute(f"CREATE TEMP TABLE {part} AS SELECT {cells} FROM {source}")  # noqa: S608 - quoted
        parts |= dict.fromkeys(own_names, part)
    return parts


def _fetch_row(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[Any, ...]:
    return connection.execute(query).fetchone() or ()


def _aggregate(
    connection: duckdb.DuckDBPyConnection,
    parts: Mapping[str, str],
    columns: Sequence[tuple[str, str]],
    rows: int,
) -> dict[str, dict[str, Any]]:
    """Aggregate all columns in one pass. Quartiles of tables of medium size follow, one column at a time, to
    bound the memory."""
    exact = rows <= EXACT_ROWS
    quartiles = f"quantile_cont({{c}}, {_QUARTERS})" if exact else f"approx_quantile({{c}}, {_QUARTERS})"
    later = EXACT_ROWS < rows <= _EXACT_QUARTILE_ROWS
    aggregates = [
        (name, fact, form.replace("{quartiles}", quartiles))
        for name, type_ in columns
        for fact, form in _AGGREGATES[type_].items()
        if not (later and fact == "quartiles")
    ]
    facts: dict[str, dict[str, Any]] = {
        name: {"distinct_approximate": True, "unique": None} for name, _ in columns
    }
    for source, group in groupby(aggregates, key=lambda aggregate: parts[aggregate[0]]):
        of_part = list(group)
        for first in range(0, len(of_part), _AGGREGATES_AT_ONCE):
            batch = of_part[first : first + _AGGREGATES_AT_ONCE]
            cells = ", ".join(form.replace("{c}", quote_identifier(name)) for name, _, form in batch)
            values = _fetch_row(connection, f"SELECT {cells} FROM {source}")  # noqa: S608
            for (name, fact, _), value in zip(batch, values, strict=True):
                facts[name][fact] = value
    return facts


def _add_quartiles(
    connection: duckdb.DuckDBPyConnection,
    parts: Mapping[str, str],
    columns: Sequence[tuple[str, str]],
    facts: dict[str, dict[str, Any]],
) -> None:
    for name, type_ in columns:
        if type_ in _NUMBERS:
            query = f"SELECT quantile_cont({quote_identifier(name)}, {_QUARTERS}) FROM {parts[name]}"  # noqa: S608
            facts[name]["quartiles"] = _fetch_row(connection, query)[0]


def _tops(
    connection: duckdb.DuckDBPyConnection,
    parts: Mapping[str, str],
    columns: Sequence[tuple[str, str]],
    facts: dict[str, dict[str, Any]],
    rows: int,
) -> dict[str, list[JsonValue]]:
    """Count the most frequent values of columns with repeated ones.

    In large tables only columns with few distinct values are counted; their distinct count becomes exact.
    """
    tops: dict[str, list[JsonValue]] = {}
    for name, type_ in columns:
        max_distinct = 50 if type_ == "number" else _TOP_DISTINCT
        if rows > EXACT_ROWS and facts[name]["distinct"] > min(max_distinct, facts[name]["present"] - 1):
            continue
        cell = quote_identifier(name)
        counts = connection.execute(
            f"SELECT {cell}, count(*) AS n, count(*) OVER () FROM {parts[name]} WHERE {cell} IS NOT NULL"  # noqa: S608
            f" GROUP BY 1 ORDER BY n DESC, 1 LIMIT {_TOP}"
        ).fetchall()
        distinct = counts[0][2] if counts else 0
        facts[name] |= {"distinct": distinct, "distinct_approximate": False}
        if distinct < facts[name]["present"] and (type_ != "number" or distinct <= max_distinct):
            tops[name] = [{"value": _to_json(value), "count": count} for value, count, _ in counts]
    return tops


def _count_distinct(
    connection: duckdb.DuckDBPyConnection,
    parts: Mapping[str, str],
    columns: Sequence[tuple[str, str]],
    facts: dict[str, dict[str, Any]],
) -> None:
    """Count the distinct values of columns that may be the times or keys of series.

    Rows are series if they are as many as times and keys together: an estimate that is 2 % off hides that.
    """
    for name, type_ in columns:
        if type_ == "number" or not facts[name]["distinct_approximate"]:
            continue
        if facts[name]["distinct"] <= _COUNTED_DISTINCT:
            query = f"SELECT count(DISTINCT {quote_identifier(name)}) FROM {parts[name]}"  # noqa: S608
            facts[name] |= {"distinct": _fetch_row(connection, query)[0], "distinct_approximate": False}


def _list_values(
    connection: duckdb.DuckDBPyConnection,
    parts: Mapping[str, str],
    columns: Sequence[tuple[str, str]],
    facts: Mapping[str, Mapping[str, Any]],
) -> dict[str, list[JsonValue]]:
    """List all texts of columns with few of them, those with the fewest first."""
    texts = [name for name, type_ in columns if type_ == "text" and facts[name]["distinct"] <= _MAX_VALUES]
    texts_by_column: dict[str, list[JsonValue]] = {}
    characters = 0
    for name in sorted(texts, key=lambda name: facts[name]["distinct"]):
        cell = quote_identifier(name)
        cells = connection.execute(
            f"SELECT DISTINCT {cell} FROM {parts[name]} WHERE {cell} IS NOT NULL"  # noqa: S608 - quoted above
            f" ORDER BY 1 LIMIT {_MAX_VALUES + 1}"
        ).fetchall()
        characters += sum(len(cell) for (cell,) in cells)
        if len(cells) > _MAX_VALUES or characters > _MAX_VALUES_CHARS:
            break
        if any(len(cell) > _MAX_SHOWN_CHARS for (cell,) in cells):
            continue
        texts_by_column[name] = [cell for (cell,) in cells]
    return texts_by_column


def _add_unique(
    connection: duckdb.DuckDBPyConnection,
    parts: Mapping[str, str],
    columns: Sequence[tuple[str, str]],
    facts: dict[str, dict[str, Any]],
) -> None:
    """Set `unique`. Estimates near the count of rows are counted exactly, except for measurements."""
    for name, type_ in columns:
        present, distinct = facts[name]["present"], facts[name]["distinct"]
        if not facts[name]["distinct_approximate"]:
            facts[name]["unique"] = present > 1 and distinct == present
        # An estimate is a few percent off: so far below the rows no column is unique.
        elif distinct <= present * 0.85:
            facts[name]["unique"] = False
        elif type_ != "number":
            facts[name]["unique"] = _is_unique(connection, parts[name], name)


def _is_unique(connection: duckdb.DuckDBPyConnection, source: str, name: str) -> bool:
    cell = quote_identifier(name)
    # Hashes take eight bytes, however long the texts are; two of a million are equal with a chance of 3e-8.
    query = f"SELECT count(DISTINCT hash({cell})) = count({cell}) FROM {source} WHERE {cell} IS NOT NULL"  # noqa: S608
    return bool(_fetch_row(connection, query)[0])


def _examples(
    connection: duckdb.DuckDBPyConnection, source: str, columns: Sequence[tuple[str, str]]
) -> dict[str, list[JsonValue]]:
    """Read the first distinct values of each column."""
    head = connection.execute(f"SELECT * FROM {source} LIMIT 200").fetchall()  # noqa: S608
    return {
        name: [
            _to_json(value)
            for value in list(dict.fromkeys(row[n] for row in head if row[n] is not None))[:_EXAMPLES]
        ]
        for n, (name, _) in enumerate(columns)
    }


def _column(
    name: str,
    type_: str,
    rows: int,
    facts: Mapping[str, Any],
    top: list[JsonValue],
    examples: list[JsonValue],
) -> dict[str, JsonValue]:
    present, unique = facts["present"], facts["unique"]
    # An estimate may exceed the rows.
    distinct = present if unique else min(facts["distinct"], present)
    column: dict[str, JsonValue] = {
        "name": name,
        "type": type_,
        "hint": hint(name, type_, rows, present, distinct, unique is True, facts),
        "missing": (rows - present) / rows if rows else 0.0,
        "missing_count": rows - present,
        "distinct": distinct,
        "distinct_approximate": facts["distinct_approximate"] and not unique,
        "unique": unique,
        "top": top,
        "examples": examples,
    }
    for fact in ("min", "max", "mean", "std", "min_length", "max_length", "mean_length"):
        if fact in facts:
            column[fact] = _to_json(facts[fact])
    if "quartiles" in facts:
        for fact, value in zip(("q25", "q50", "q75"), facts["quartiles"] or (None,) * 3, strict=True):
            column[fact] = _to_json(value)
        column["quartiles_approximate"] = rows > _EXACT_QUARTILE_ROWS
    return column


def _to_json(value: object) -> JsonValue:
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else None
        case dt.datetime():
            return value.isoformat()
        case _:
            return str(value)[:_MAX_SHOWN_CHARS]
