"""Conversion of a stored table again, by readings that a person chose for some of its columns."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.uploads import sql
from app.computations.uploads.corrections import CorrectedColumn, correct_column, require_columns
from app.computations.uploads.file_reading import describe_correction
from app.computations.uploads.ingest import list_plain_columns
from app.computations.uploads.profile import profile_table
from app.computations.uploads.typed_columns import infer_column_types
from app.json_types import JsonValue
from app.modeling.facts.readings import FileReading, ReadingChoice
from app.modeling.type_inference.conventions import Conventions
from app.modeling.type_inference.type_decision import TypeDecision
from app.plans.identifiers import quote_identifier

_MEMORY_BYTES = 384 << 20
"""Memory of DuckDB; larger work spills to disk."""


def reread(
    workspace: CellWorkspace, choices: dict[str, ReadingChoice], reading: dict[str, Any]
) -> dict[str, JsonValue]:
    """Convert columns (name -> chosen reading) of the input `table` again; leave table.parquet.

    Input `cells`, if there is one, has cells as written. `reading`: the stored `readings.FileReading`. Returns
    `{"columns", "profile", "reading"}`. Raises InvalidInput `unknown_column` or `reading_not_possible`.
    """
    before = FileReading.model_validate(reading)
    schema = pq.read_schema(workspace.inputs["table"])
    require_columns(schema.names, choices)
    cells = workspace.inputs.get("cells")
    cell_names = pq.read_schema(cells).names if cells else []
    corrected: dict[str, CorrectedColumn] = {}
    examples: dict[str, list[str]] = {}
    for name, choice in choices.items():
        raw = _read_column(cells, name) if cells and name in cell_names else None
        typed = _read_column(workspace.inputs["table"], name)
        corrected[name] = correct_column(typed, raw, choice, before.find(name))
        source = raw if raw is not None else typed
        examples[name] = [str(value) for value in source.dropna().head(5)] if source.dtype == "str" else []
    _write(workspace, corrected)
    described = _profile(workspace, before, choices)
    after = before
    for name, column in corrected.items():
        after = describe_correction(after, name, choices[name], column.parser, examples[name], described)
    return {
        "columns": list_plain_columns(described),
        "profile": described,
        "reading": after.model_dump(mode="json"),
    }


def _read_column(path: Path, name: str) -> pd.Series:
    column: pd.Series = pd.read_parquet(path, columns=[name])[name]
    return column


def _write(workspace: CellWorkspace, columns: Mapping[str, CorrectedColumn]) -> None:
    """Write the table with some columns replaced, all columns in their order."""
    work = workspace.output / ".work"
    work.mkdir()
    replaced = {f"c{n}": name for n, name in enumerate(columns)}
    pq.write_table(
        pa.table({label: columns[name].values for label, name in replaced.items()}), work / "columns.parquet"
    )
    cells = ", ".join(f"c.{label} AS {quote_identifier(name)}" for label, name in replaced.items())
    source = (
        f"SELECT t.* REPLACE ({cells}) FROM read_parquet({sql.text(workspace.inputs['table'])}) t"  # noqa: S608
        f" POSITIONAL JOIN read_parquet({sql.text(work / 'columns.parquet')}) c"
    )
    try:
        with sql.connect(workspace, work, _MEMORY_BYTES) as connection:
            target = sql.text(workspace.output / "table.parquet")
            connection.execute(f"COPY ({source}) TO {target} (FORMAT parquet, COMPRESSION zstd)")
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _profile(
    workspace: CellWorkspace, before: FileReading, choices: Mapping[str, ReadingChoice]
) -> dict[str, Any]:
    """Profile the corrected table; columns that were not chosen keep their stored reading."""
    table = workspace.output / "table.parquet"
    conventions = Conventions(before.decimal, before.is_day_first)
    work = workspace.output / ".work"
    work.mkdir()
    try:
        with sql.connect(workspace, work, _MEMORY_BYTES) as connection:
            rows = pq.read_metadata(table).num_rows
            inferred = infer_column_types(connection, table, rows, conventions)
            stored = [
                TypeDecision(
                    column.column,
                    column.reads_as,
                    dict(column.parser),
                    column.text,
                    column.confidence,
                    {"unit": column.unit},
                )
                for column in before.columns
                if column.parser and column.column not in choices
            ]
            names = {decision.column for decision in stored}
            others = [decision for decision in inferred.decisions if decision.column not in names]
            return profile_table(connection, table, [*stored, *others], inferred.sample)
    finally:
        shutil.rmtree(work, ignore_errors=True)
