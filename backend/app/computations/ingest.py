"""An upload becomes one Parquet file of plain types, and a profile that relates nothing to a target.

Plain types: integer (BIGINT), number (DOUBLE, finite), boolean, text (VARCHAR), datetime (TIMESTAMP in UTC).
"""

import shutil
from dataclasses import replace
from pathlib import Path

import duckdb

from app.computations.bench import Bench
from app.computations.uploads import sql
from app.computations.uploads.arrays import arrays_as_csv, feather_as_parquet
from app.computations.uploads.containers import unpack
from app.computations.uploads.delimited import Write, write_delimited
from app.computations.uploads.encoding import Text, as_utf8
from app.computations.uploads.file_formats import json_table, parquet_table, sheet_as_csv
from app.computations.uploads.json_width import check_json_width
from app.computations.uploads.keyed_json import keyed_as_csv
from app.computations.uploads.multi_header import headed_as_csv
from app.computations.uploads.profile import profile_table
from app.errors import InvalidInput
from app.json_types import JsonValue

_MEMORY_BYTES = 384 << 20
_ROW_GROUP = 122_880
_WIDE = 400
_WIDE_MEMORY_BYTES = 800 << 20
_WIDE_ROW_GROUP = 4_096
_EXPANDED_BYTES = 8 << 30


def ingest(bench: Bench, filename: str = "", expanded_bytes: int = _EXPANDED_BYTES) -> dict[str, JsonValue]:
    """`convert` and `profile` in one cell: `{"format", "columns", "rows", "profile"}` and table.parquet."""
    converted = convert(bench, filename, expanded_bytes)
    table = Bench({"table": bench.output / "table.parquet"}, bench.output, bench.threads, bench.report)
    return {**converted, "profile": profile(table)}


def convert(bench: Bench, filename: str = "", expanded_bytes: int = _EXPANDED_BYTES) -> dict[str, JsonValue]:
    """Read the input `upload` and leave table.parquet.

    Returns `{"format": {"kind", ..., "notes"}, "columns": [{"name", "type"}], "rows"}`. The bytes decide what
    the file is; `filename` only settles what they leave open. Raises InvalidInput or TooLarge saying what is
    wrong with the file, and leaves nothing then.
    """
    work = bench.output / ".work"
    work.mkdir()
    target = bench.output / "table.parquet"
    try:
        with sql.connect(bench, work, _MEMORY_BYTES) as connection:
            bench.report(0.05, "Reading the file")

            def write(table: sql.Table) -> int:
                return _write(connection, table, target)

            table, rows, compression = read_upload(connection, bench, filename, expanded_bytes, write)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if not rows:
        target.unlink()
        raise InvalidInput("no_rows", "The file has columns and no rows.")
    format_: dict[str, JsonValue] = {**table.format, "compression": compression, "notes": [*table.notes]}  # type: ignore[dict-item]  # JSON by construction
    return {"format": format_, "columns": [dict(column) for column in table.columns], "rows": rows}


def profile(bench: Bench) -> dict[str, JsonValue]:
    """What the input `table` (Parquet of plain types) holds, column by column; see `uploads/profile.py`."""
    work = bench.output / ".work"
    work.mkdir()
    try:
        with sql.connect(bench, work, _MEMORY_BYTES) as connection:
            bench.report(0.7, "Profiling the columns")
            return profile_table(connection, bench.inputs["table"])
    finally:
        shutil.rmtree(work, ignore_errors=True)


def read_upload(
    connection: duckdb.DuckDBPyConnection, bench: Bench, filename: str, expanded_bytes: int, write: Write
) -> tuple[sql.Table, int, str | None]:
    """The input `upload` as a table that `write` has written, its rows, and how it was compressed.

    `write` may be asked again when the file turns out to be other than its beginning. Works in the folder
    `.work` of the output. Raises InvalidInput or TooLarge saying what is wrong with the file.
    """
    work = bench.output / ".work"
    plain = unpack(bench.inputs["upload"], work, expanded_bytes)
    if plain.kind == "parquet":
        table = parquet_table(connection, plain.path)
        return table, write(table), plain.compression
    if plain.kind == "feather":
        table = parquet_table(connection, feather_as_parquet(plain.path, work))
        return replace(table, format={"kind": "feather"}), write(table), plain.compression
    if plain.kind == "excel":
        path, format_, notes = sheet_as_csv(plain.path, work)
        table, rows = write_delimited(connection, Text(path, "utf-8"), write, delimiter=",")
        kept = {key: table.format[key] for key in ("header", "readings")}
        return (
            sql.Table("", table.columns, {**format_, **kept}, (*notes, *table.notes)),
            rows,
            plain.compression,
        )
    text = as_utf8(plain.path, work)
    is_json = _is_json(text.path, filename)
    if is_json:
        check_json_width(text.path)
    arrays = arrays_as_csv(connection, text.path, work) if is_json else None
    keyed = keyed_as_csv(text.path, work) if is_json and arrays is None else None
    headed = None if is_json else headed_as_csv(text.path, work)
    if keyed is not None:
        table, rows = write_delimited(connection, Text(keyed.path, "utf-8"), write, delimiter=",")
        table = replace(table, format={"kind": "json"}, notes=(*keyed.notes, *table.notes))
    elif headed is not None:
        table, rows = write_delimited(connection, Text(headed, "utf-8"), write, delimiter=",")
    elif arrays is not None:
        table, rows = write_delimited(connection, Text(arrays, "utf-8"), write, delimiter=",")
        table = replace(table, format={"kind": "json"})
    elif is_json:
        table = json_table(connection, text.path)
        rows = write(table)
    else:
        table, rows = write_delimited(connection, text, write)
    format_ = {**table.format, "encoding": text.encoding}
    return sql.Table("", table.columns, format_, table.notes), rows, plain.compression


def _is_json(path: Path, filename: str) -> bool:
    with path.open(encoding="utf-8") as file:
        begin = file.read(4096).lstrip()
    if filename.lower().split(".gz")[0].endswith((".csv", ".tsv", ".txt")):
        return False
    return begin.startswith(("{", "["))


def _write(connection: duckdb.DuckDBPyConnection, table: sql.Table, target: Path) -> int:
    group = _ROW_GROUP
    if len(table.columns) > _WIDE:
        # Every column has a buffer in every thread.
        connection.execute(f"SET threads = 1; SET memory_limit = '{_WIDE_MEMORY_BYTES}B'")
        group = _WIDE_ROW_GROUP
    done = connection.execute(
        f"COPY ({table.select}) TO {sql.text(target)}"
        f" (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {group})"
    ).fetchone()
    return int(done[0]) if done else 0
