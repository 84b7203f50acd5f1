"""What a table holds, column by column, in one hand-written pass; exact for small tables, labelled where not.

Distinct counts of tables over EXACT_ROWS are HyperLogLog estimates and quartiles t-digests; extremes, means,
missing counts, the uniqueness flag and the counts of top values are always exact.
"""

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from app.computations.bench import JsonValue
from app.computations.uploads import sql
from app.computations.uploads.hints import hint

EXACT_ROWS = 100_000
_TOP = 10
_TOP_DISTINCT = 5_000
_EXAMPLES = 5
_SHOWN = 120

_NUMBERS = {"integer", "number"}
TYPES = {"BIGINT": "integer", "DOUBLE": "number", "BOOLEAN": "boolean", "TIMESTAMP": "datetime"}

# fact -> the aggregate of column {c}; `{distinct}` and `{quartiles}` are filled in by the table's size.
_EVERY = {"present": "count({c})", "distinct": "{distinct}"}
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


def profile_table(connection: duckdb.DuckDBPyConnection, path: Path) -> dict[str, JsonValue]:
    """`{"rows", "approximate", "columns": [...]}`; NaN and infinity never appear."""
    source = f"read_parquet({sql.text(path)})"
    described = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()  # noqa: S608
    columns = [(row[0], TYPES.get(row[1], "text")) for row in described]
    (rows,) = connection.execute(f"SELECT count(*) FROM {source}").fetchone() or (0,)  # noqa: S608
    exact = rows <= EXACT_ROWS
    facts = _aggregate(connection, source, columns, exact)
    unique = _unique(connection, source, facts, exact)
    examples = _examples(connection, source, columns)
    tops = _tops(connection, source, columns, facts)
    return {
        "rows": rows,
        "approximate": not exact,
        "columns": [
            _column(name, type_, rows, exact, facts[name], unique[name], tops.get(name, []), examples[name])
            for name, type_ in columns
        ],
    }


def _aggregate(
    connection: duckdb.DuckDBPyConnection, source: str, columns: Sequence[tuple[str, str]], exact: bool
) -> dict[str, dict[str, Any]]:
    distinct = "count(DISTINCT {c})" if exact else "approx_count_distinct({c})"
    share = "[0.25, 0.5, 0.75]"
    quartiles = f"quantile_cont({{c}}, {share})" if exact else f"approx_quantile({{c}}, {share})"
    asked = [
        (name, fact, form.replace("{distinct}", distinct).replace("{quartiles}", quartiles))
        for name, type_ in columns
        for fact, form in _AGGREGATES[type_].items()
    ]
    cells = ", ".join(form.replace("{c}", sql.name(name)) for name, _, form in asked)
    found = connection.execute(f"SELECT {cells} FROM {source}").fetchone() or ()  # noqa: S608
    facts: dict[str, dict[str, Any]] = {name: {} for name, _ in columns}
    for (name, fact, _), value in zip(asked, found, strict=True):
        facts[name][fact] = value
    return facts


def _unique(
    connection: duckdb.DuckDBPyConnection, source: str, facts: Mapping[str, Mapping[str, Any]], exact: bool
) -> dict[str, bool]:
    """Has the column no value twice? Estimates near the count are counted out."""
    unique = {name: fact["present"] > 1 and fact["distinct"] == fact["present"] for name, fact in facts.items()}
    if exact:
        return unique
    near = [name for name, fact in facts.items() if fact["distinct"] > fact["present"] * 0.85 > 0]
    for name in facts:
        unique[name] = name in near and _has_no_twins(connection, source, name)
    return unique


def _has_no_twins(connection: duckdb.DuckDBPyConnection, source: str, name: str) -> bool:
    cell = sql.name(name)
    query = f"SELECT count(DISTINCT hash({cell})) = count({cell}) FROM {source} WHERE {cell} IS NOT NULL"  # noqa: S608
    return bool((connection.execute(query).fetchone() or (False,))[0])


def _tops(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    columns: Sequence[tuple[str, str]],
    facts: Mapping[str, Mapping[str, Any]],
) -> dict[str, list[JsonValue]]:
    """Most frequent values with exact counts, of columns with few enough values to have any."""
    tops: dict[str, list[JsonValue]] = {}
    for name, type_ in columns:
        few = facts[name]["distinct"] <= _TOP_DISTINCT and facts[name]["distinct"] < facts[name]["present"]
        if not few or (type_ == "number" and facts[name]["distinct"] > 50):
            continue
        cell = sql.name(name)
        found = connection.execute(
            f"SELECT {cell}, count(*) AS n FROM {source} WHERE {cell} IS NOT NULL"  # noqa: S608
            f" GROUP BY 1 ORDER BY n DESC, 1 LIMIT {_TOP}"
        ).fetchall()
        tops[name] = [{"value": _shown(value), "count": count} for value, count in found]
    return tops


def _examples(
    connection: duckdb.DuckDBPyConnection, source: str, columns: Sequence[tuple[str, str]]
) -> dict[str, list[JsonValue]]:
    """The first different values of each column."""
    head = connection.execute(f"SELECT * FROM {source} LIMIT 200").fetchall()  # noqa: S608
    return {
        name: [
            _shown(value)
            for value in list(dict.fromkeys(row[n] for row in head if row[n] is not None))[:_EXAMPLES]
        ]
        for n, (name, _) in enumerate(columns)
    }


def _column(
    name: str,
    type_: str,
    rows: int,
    exact: bool,
    facts: Mapping[str, Any],
    unique: bool,
    top: list[JsonValue],
    examples: list[JsonValue],
) -> dict[str, JsonValue]:
    present = facts["present"]
    distinct = min(facts["distinct"], present)
    column: dict[str, JsonValue] = {
        "name": name,
        "type": type_,
        "hint": hint(name, type_, rows, present, distinct, unique, facts),
        "missing": (rows - present) / rows if rows else 0.0,
        "missing_count": rows - present,
        "distinct": present if unique else distinct,
        "distinct_approximate": not exact and not unique,
        "unique": unique,
        "top": top,
        "examples": examples,
    }
    for fact in ("min", "max", "mean", "std", "min_length", "max_length", "mean_length"):
        if fact in facts:
            column[fact] = _shown(facts[fact])
    if "quartiles" in facts:
        for fact, value in zip(("q25", "q50", "q75"), facts["quartiles"] or (None,) * 3, strict=True):
            column[fact] = _shown(value)
        column["quartiles_approximate"] = not exact
    return column


def _shown(value: object) -> JsonValue:
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else None
        case dt.datetime():
            return value.isoformat()
        case _:
            return str(value)[:_SHOWN]
