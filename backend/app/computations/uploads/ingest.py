"""Conversion of an upload to one Parquet file of plain types, with a profile of its columns.

Plain types: integer (BIGINT), number (DOUBLE, finite), boolean, text (VARCHAR), datetime (TIMESTAMP in UTC).
"""

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.uploads import sql
from app.computations.uploads.array_tables import arrays_as_csv
from app.computations.uploads.delimited import Write, write_delimited
from app.computations.uploads.encoding import Text, as_utf8
from app.computations.uploads.excel import sheet_as_csv
from app.computations.uploads.feather import feather_as_parquet
from app.computations.uploads.file_kinds import unpack
from app.computations.uploads.file_reading import ConvertedFile, read_file
from app.computations.uploads.fixed_width import split_fixed_width
from app.computations.uploads.foreign_text import HEAD_CHARS, read_head, refuse_markup, unwrap_quoted_lines
from app.computations.uploads.foreign_text import is_json as is_json_text
from app.computations.uploads.json_column_count import check_json_width
from app.computations.uploads.json_faults import refuse_empty, refuse_unlike_json
from app.computations.uploads.json_shapes import check_document_size, records_as_json
from app.computations.uploads.json_text_length import check_text_length
from app.computations.uploads.keyed_json import keyed_as_csv
from app.computations.uploads.multi_header import headed_as_csv
from app.computations.uploads.parquet_and_json import json_table, parquet_table
from app.computations.uploads.profile import profile_table
from app.computations.uploads.typed_columns import convert_columns, infer_column_types
from app.errors import InvalidInput
from app.json_types import JsonValue

CELLS_FILE = "cells.parquet"
"""Columns that have a second reading, as written, so that the reading can be corrected."""
_MEMORY_BYTES = 384 << 20
"""Memory of DuckDB; larger work spills to disk."""
_ROW_GROUP_ROWS = 122_880
"""DuckDB's own size of a row group."""
_WIDE_COLUMNS = 400
"""Columns from which the buffers of a row group need the settings for wide tables."""
_WIDE_MEMORY_BYTES = 800 << 20
"""Memory of DuckDB for wide tables, in a cell of 1 GiB."""
_WIDE_ROW_GROUP_ROWS = 4_096
"""Rows of a group of wide tables, whose columns are all buffered."""
_EXPANDED_BYTES = 8 << 30
"""Size of an uncompressed upload, against decompression bombs."""


def ingest(
    workspace: CellWorkspace, filename: str = "", expanded_bytes: int = _EXPANDED_BYTES
) -> dict[str, JsonValue]:
    """Run `convert` and `profile` in one cell; leave table.parquet.

    Returns `{"format", "columns", "rows", "profile", "reading"}`, the last as `readings.FileReading`.
    """
    converted = convert(workspace, filename, expanded_bytes)
    file = ConvertedFile.model_validate(converted.pop("conventions"))
    table = workspace.output / "table.parquet"
    work = workspace.output / ".work"
    work.mkdir()
    try:
        with sql.connect(workspace, work, _MEMORY_BYTES) as connection:
            workspace.report(0.6, "Reading the meaning of the cells")
            inferred = infer_column_types(connection, table, int(str(converted["rows"])), file.conventions)
            if convert_columns(connection, inferred, table, table.with_name(CELLS_FILE), work):
                file = file.with_cells(inferred.cells)
            workspace.report(0.7, "Profiling the columns")
            described = profile_table(connection, table, inferred.decisions, inferred.sample)
    except BaseException:
        table.unlink(missing_ok=True)
        table.with_name(CELLS_FILE).unlink(missing_ok=True)
        raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return {
        **converted,
        "format": _with_final_notes(converted["format"], file, described),
        "columns": list_plain_columns(described),
        "profile": described,
        "reading": read_file(file, described).model_dump(mode="json"),
    }


def _with_final_notes(format_: Any, file: ConvertedFile, described: Mapping[str, Any]) -> JsonValue:
    """The facts of the format without notes that the typing of columns has overtaken."""
    types = {column["name"]: column["type"] for column in described["columns"]}
    return {**format_, "notes": [*file.withdraw_notes(format_["notes"], types)]}


def convert(
    workspace: CellWorkspace, filename: str = "", expanded_bytes: int = _EXPANDED_BYTES
) -> dict[str, JsonValue]:
    """Convert the input `upload` to table.parquet.

    Returns `{"format": {"kind", ..., "notes"}, "columns": [{"name", "type"}], "rows", "conventions"}`, the last
    as `file_reading.ConvertedFile`. The content determines the format; `filename` only decides what the content
    leaves open. Raises InvalidInput or TooLarge that names the fault of the file, and leaves nothing then.
    """
    work = workspace.output / ".work"
    work.mkdir()
    target = workspace.output / "table.parquet"
    try:
        with sql.connect(workspace, work, _MEMORY_BYTES) as connection:
            workspace.report(0.05, "Reading the file")

            def write(table: sql.SourceTable) -> int:
                return _write(connection, table, target)

            table, rows, compression = read_upload(connection, workspace, filename, expanded_bytes, write)
    # Whatever ends the conversion, a part of a table must not be taken for one.
    except BaseException:
        target.unlink(missing_ok=True)
        target.with_name(CELLS_FILE).unlink(missing_ok=True)
        raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if not rows:
        target.unlink()
        raise InvalidInput("no_rows", "The file has no rows.")
    facts = dict(table.format)
    conventions: JsonValue = facts.pop("conventions", {})  # type: ignore[assignment]  # JSON by construction
    format_: dict[str, JsonValue] = {**facts, "compression": compression, "notes": [*table.notes]}  # type: ignore[dict-item]  # JSON by construction
    return {
        "format": format_,
        "columns": [dict(column) for column in table.columns],
        "rows": rows,
        "conventions": conventions,
    }


def list_plain_columns(described: Mapping[str, Any]) -> list[JsonValue]:
    """Names and types of the columns of a profile."""
    return [{"name": column["name"], "type": column["type"]} for column in described["columns"]]


def read_upload(
    connection: duckdb.DuckDBPyConnection,
    workspace: CellWorkspace,
    filename: str,
    expanded_bytes: int,
    write: Write,
) -> tuple[sql.SourceTable, int, str | None]:
    """Read the input `upload` as a table that `write` has written; return it with its rows and compression.

    `write` may be called again if the file turns out to differ from its beginning. Works in the folder `.work`
    of the output. Raises InvalidInput or TooLarge that names the fault of the file.
    """
    work = workspace.output / ".work"
    plain = unpack(workspace.inputs["upload"], work, expanded_bytes)
    if plain.kind in ("parquet", "feather"):
        path = feather_as_parquet(plain.path, work) if plain.kind == "feather" else plain.path
        table = replace(parquet_table(connection, path), format={"kind": plain.kind})
        return table, _write_columnar(table, write, plain.kind), plain.compression
    if plain.kind == "excel":
        path, format_, notes = sheet_as_csv(plain.path, work)
        table, rows = write_delimited(connection, Text(path, "utf-8"), write, work, delimiter=",")
        details = {key: table.format[key] for key in ("header", "readings", "conventions")}
        return (
            sql.SourceTable("", table.columns, {**format_, **details}, (*notes, *table.notes)),
            rows,
            plain.compression,
        )
    table, rows = _read_text(connection, plain.path, filename, write, work)
    return table, rows, plain.compression


def _write_columnar(table: sql.SourceTable, write: Write, kind: str) -> int:
    """Write a table of typed columns; raises InvalidInput where its values are damaged."""
    try:
        return write(table)
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        raise InvalidInput(
            "damaged_file",
            f"The {kind.capitalize()} file is damaged: its values cannot be read. Send it again, or write it"
            " again where it comes from.",
        ) from error


def _read_text(
    connection: duckdb.DuckDBPyConnection, path: Path, filename: str, write: Write, work: Path
) -> tuple[sql.SourceTable, int]:
    """Read a text file: JSON in any of its forms, or a delimited one, with several header rows or one."""
    text = as_utf8(path, work)
    head = read_head(text.path)
    is_named_delimited = filename.lower().split(".gz")[0].endswith((".csv", ".tsv", ".txt"))
    is_json = is_json_text(head, is_named_delimited)
    if is_json:
        refuse_empty(head)
        check_text_length(text.path)
        check_json_width(text.path)
    else:
        refuse_markup(head)
        if not is_named_delimited:
            refuse_unlike_json(head, is_complete=len(head) < HEAD_CHARS)
    keyed = keyed_as_csv(text.path, work) if is_json else None
    records = records_as_json(text.path, work) if is_json and keyed is None else None
    arrays = (
        arrays_as_csv(connection, text.path, work) if is_json and keyed is None and records is None else None
    )
    headed = None if is_json else headed_as_csv(text.path, work)
    if keyed is not None:
        table, rows = write_delimited(connection, Text(keyed.path, "utf-8"), write, work, delimiter=",")
        table = replace(table, format={"kind": "json"}, notes=(*keyed.notes, *table.notes))
    elif headed is not None:
        table, rows = write_delimited(connection, Text(headed, "utf-8"), write, work, delimiter=",")
    elif arrays is not None:
        table, rows = write_delimited(connection, Text(arrays, "utf-8"), write, work, delimiter=",")
        table = replace(table, format={"kind": "json"})
    elif is_json:
        table = json_table(connection, records or text.path)
        rows = write(table)
        if rows == 1 and _is_one_object(text.path):
            check_document_size(text.path)
            table = replace(table, notes=(*table.notes, "The file is one object; its members are one row."))
    else:
        lines = unwrap_quoted_lines(text.path, head, work / "unwrapped.csv")
        columns = None if lines else split_fixed_width(text.path, head, work / "columns.csv")
        source = replace(text, path=lines or columns or text.path)
        table, rows = write_delimited(connection, source, write, work, delimiter="," if columns else None)
        if columns:
            note = "The columns have a fixed width, and are split where every line has spaces."
            table = replace(table, notes=(note, *table.notes))
    format_ = {**table.format, "encoding": text.encoding}
    return sql.SourceTable("", table.columns, format_, table.notes), rows


def _is_one_object(path: Path) -> bool:
    return read_head(path).lstrip().startswith("{")


def _write(connection: duckdb.DuckDBPyConnection, table: sql.SourceTable, target: Path) -> int:
    group = _ROW_GROUP_ROWS
    if len(table.columns) > _WIDE_COLUMNS:
        # Each thread has a buffer for each column. The search for common subexpressions compares every column
        # with every other: 4,000 columns of one row took 20 s of processor time with it, and take 2 s without.
        connection.execute(
            f"SET threads = 1; SET memory_limit = '{_WIDE_MEMORY_BYTES}B';"
            " SET disabled_optimizers = 'common_subexpressions'"
        )
        group = _WIDE_ROW_GROUP_ROWS
    done = connection.execute(
        f"COPY ({table.select}) TO {sql.text(target)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE"
        f" {group})"
    ).fetchone()
    if table.cells:
        cells = sql.text(target.with_name(CELLS_FILE))
        connection.execute(f"COPY ({table.cells}) TO {cells} (FORMAT parquet, COMPRESSION zstd)")
    return int(done[0]) if done else 0
