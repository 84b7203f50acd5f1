"""Conversion of text columns by their inferred readings: every reader of a table has the same values."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from app.computations.uploads import sql
from app.computations.uploads.column_meanings import read_sample
from app.modeling.facts.readings import MAX_OPEN_CONFIDENCE
from app.modeling.type_inference.column_decisions import infer_types, make_parsers
from app.modeling.type_inference.conventions import Conventions
from app.modeling.type_inference.parsers import AnyParser, parse_columns, validate_parsers
from app.modeling.type_inference.type_decision import TypeDecision
from app.plans.identifiers import quote_identifier

ARROW_TYPES: dict[str, pa.DataType] = {
    "read_number": pa.float64(),
    "read_clock": pa.float64(),
    "read_date": pa.timestamp("us"),
}
"""Parser -> type of the columns that are converted. Words stay as written: a target keeps its classes."""
MAX_UNPARSED_SHARE = 0.2
"""Share of the cells of a complete column that its parser may lose: in the sample it lost less."""
BATCH_ROWS = 122_880
"""Rows that are parsed at a time: a row group of DuckDB's."""
MAX_SPELLINGS = 100
"""Different texts of a column that are kept: a target has at most as many classes."""
MAX_EXAMPLES = 5
"""Example cells of a column, as many as a profile lists."""


@dataclass(frozen=True)
class InferredTypes:
    """Decisions on the columns of a table, and its `sample` with typed values.

    `cells`: column -> its first distinct texts, of columns that were converted.
    """

    decisions: tuple[TypeDecision, ...]
    sample: pd.DataFrame
    cells: Mapping[str, tuple[str, ...]]


def infer_column_types(
    connection: duckdb.DuckDBPyConnection, table: Path, rows: int, conventions: Conventions
) -> InferredTypes:
    """Infer the types of the columns of a Parquet file from evenly spaced rows."""
    sample = read_sample(connection, f"read_parquet({sql.text(table)})", rows, pq.read_schema(table).names)
    decisions = tuple(
        _with_spellings(decision, sample[decision.column])
        for decision in infer_types(sample, conventions=conventions)
    )
    cells = {
        decision.column: tuple(str(cell) for cell in sample[decision.column].dropna().unique()[:MAX_EXAMPLES])
        for decision in decisions
        if _is_converted(decision)
    }
    return InferredTypes(decisions, parse_columns(sample, make_parsers(decisions)), cells)


def _with_spellings(decision: TypeDecision, column: pd.Series) -> TypeDecision:
    """Keep in a parser of numbers how few different texts were written: they may be classes."""
    if not _is_converted(decision) or decision.way["op"] != "read_number":
        return decision
    cells = column.value_counts().index
    if len(cells) > MAX_SPELLINGS:
        return decision
    return replace(decision, way={**decision.way, "spellings": [str(cell) for cell in cells]})


def _is_converted(decision: TypeDecision) -> bool:
    # What nothing in the file decides stays as written, so that the answer to a question can decide it.
    return decision.way["op"] in ARROW_TYPES and decision.confidence > MAX_OPEN_CONFIDENCE


def convert_columns(
    connection: duckdb.DuckDBPyConnection, inferred: InferredTypes, table: Path, cells: Path, work: Path
) -> bool:
    """Replace columns of the table by their values, and add them as written to the file of `cells`.

    Returns whether there was anything to convert.
    """
    parsers = {
        decision.column: validate_parsers([{**decision.way, "columns": [decision.column]}])[0]
        for decision in inferred.decisions
        if _is_converted(decision)
    }
    converted = _write_typed(table, parsers, work / "typed.parquet") if parsers else []
    if not converted:
        return False
    labels = {name: f"c{place}" for place, name in enumerate(parsers)}
    replaced = ", ".join(f"c.{labels[name]} AS {quote_identifier(name)}" for name in converted)
    typed = (
        f"read_parquet({sql.text(table)}) t POSITIONAL JOIN read_parquet({sql.text(work / 'typed.parquet')}) c"
    )
    _copy(connection, f"SELECT t.* REPLACE ({replaced}) FROM {typed}", work / "table.parquet")  # noqa: S608
    raw_columns = ", ".join(f"t.{quote_identifier(name)}" for name in converted)
    if cells.exists():
        others = [quote_identifier(name) for name in pq.read_schema(cells).names if name not in converted]
        source = f"read_parquet({sql.text(table)}) t POSITIONAL JOIN read_parquet({sql.text(cells)}) o"
        raw_columns = ", ".join([raw_columns, *(f"o.{name}" for name in others)])
    else:
        source = f"read_parquet({sql.text(table)}) t"
    _copy(connection, f"SELECT {raw_columns} FROM {source}", work / "cells.parquet")  # noqa: S608 - names are quoted
    (work / "cells.parquet").replace(cells)
    (work / "table.parquet").replace(table)
    return True


def _copy(connection: duckdb.DuckDBPyConnection, select: str, target: Path) -> None:
    connection.execute(f"COPY ({select}) TO {sql.text(target)} (FORMAT parquet, COMPRESSION zstd)")


def _write_typed(table: Path, parsers: Mapping[str, AnyParser], target: Path) -> list[str]:
    """Parse columns in batches; return those that keep enough of their cells."""
    names = list(parsers)
    types = [(f"c{place}", ARROW_TYPES[parsers[name].op]) for place, name in enumerate(names)]
    lost, present = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    with pq.ParquetWriter(target, pa.schema(types)) as writer:
        for batch in pq.ParquetFile(table).iter_batches(BATCH_ROWS, columns=names):
            frame = batch.to_pandas(types_mapper=_TEXT_TYPES.get)
            arrays = []
            for name, (_, type_) in zip(names, types, strict=True):
                values = parsers[name].parse(frame[name])
                lost[name] += int(parsers[name].is_unparsed(frame[name]).sum())
                present[name] += int(frame[name].notna().sum())
                arrays.append(pa.array(values, type_, from_pandas=True))
            writer.write_batch(pa.record_batch(arrays, schema=pa.schema(types)))
    # A column that loses more was sampled where it happened to be readable: it stays as written.
    return [name for name in names if lost[name] <= MAX_UNPARSED_SHARE * present[name]]


_TEXT_TYPES: dict[pa.DataType, Any] = {pa.string(): pd.StringDtype(na_value=float("nan"))}
"""Texts as pandas reads them."""
