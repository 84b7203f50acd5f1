"""Meanings of the columns of an upload beyond their types: inferred types, and redundant columns."""

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import pandas as pd

from app.json_types import JsonValue
from app.modeling.analysis.redundancy import find_redundant
from app.modeling.table.json_values import to_json_scalar, to_json_value
from app.modeling.type_inference.column_decisions import infer_types, make_parsers
from app.modeling.type_inference.parsers import parse_columns
from app.modeling.type_inference.type_decision import TypeDecision
from app.plans.identifiers import quote_identifier

MAX_CELLS = 1_000_000
"""Cells that are read to infer types: of a wide table, fewer rows."""
MIN_ROWS = 500
"""Rows that are read of a table however wide: fewer say too little about rare spellings."""
_HINTS = {"number": "numeric", "datetime": "datetime", "boolean": "boolean"}


def add_meanings(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    rows: int,
    columns: list[dict[str, JsonValue]],
    decisions: Sequence[TypeDecision] | None = None,
    sample: pd.DataFrame | None = None,
) -> None:
    """Add `reading` and `redundant` to the columns of a profile, from evenly spaced rows of `source`.

    `decisions` and the typed `sample` that they were inferred from; without them they are inferred here.

    `reading`: `{"as", "text", "confidence", "evidence", "parser"}` and, of numbers and dates, `min`, `q50` and
    `max`; the hint follows it. `redundant`: `{"kind", "of", "text"}`.
    """
    by_name = {str(column["name"]): column for column in columns}
    if sample is None:
        sample = read_sample(connection, source, rows, list(by_name))
    if decisions is None:
        decisions = infer_types(sample)
    parsed = parse_columns(sample, make_parsers(decisions))
    for decision in decisions:
        column = by_name[decision.column]
        column["reading"] = _reading(decision, parsed[decision.column])
        if column["hint"] not in ("empty", "constant"):
            column["hint"] = _HINTS.get(decision.reads_as, column["hint"])
    for redundancy in find_redundant(parsed):
        by_name[redundancy.column]["redundant"] = {
            "kind": redundancy.kind,
            "of": redundancy.of,
            "text": redundancy.text,
        }


def read_sample(
    connection: duckdb.DuckDBPyConnection, source: str, rows: int, names: Sequence[str]
) -> pd.DataFrame:
    """Read every n-th row of a long table."""
    step = -(-rows // max(MIN_ROWS, MAX_CELLS // max(len(names), 1)))
    if step <= 1:
        return connection.execute(f"SELECT * FROM {source}").df()  # noqa: S608
    number = "file_row_number" if source.startswith("read_parquet") else "rowid"
    rows_of = source
    if number in {name.lower() for name in names}:  # a column hides it: count, which one thread must do
        number = "n" * (1 + max(len(name) for name in names))
        rows_of = f"(SELECT *, row_number() OVER () - 1 AS {number} FROM {source})"  # noqa: S608
    cells = ", ".join(quote_identifier(name) for name in names)
    return connection.execute(f"SELECT {cells} FROM {rows_of} WHERE {number} % {step} = 0").df()  # noqa: S608


def _reading(decision: TypeDecision, column: pd.Series) -> Any:
    extremes: Mapping[str, Any] = {}
    if decision.reads_as in ("number", "datetime") and column.notna().any():
        extremes = {
            "min": to_json_scalar(column.min()),
            "q50": to_json_scalar(column.median()),
            "max": to_json_scalar(column.max()),
        }
    facts = {"as": decision.reads_as, "text": decision.text, "confidence": decision.confidence}
    return to_json_value({**facts, "evidence": decision.evidence, "parser": decision.way, **extremes})
