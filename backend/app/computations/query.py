"""Questions to tables: rows to look at, SQL under the policy, statistics. Parquet in, JSON or Parquet out."""

import datetime as dt
import json
import math
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import duckdb

from app.computations.bench import Bench
from app.computations.sql_policy import require_plain_tree, require_question, unknown_column
from app.computations.uploads import sql
from app.computations.uploads.file_formats import plain_columns
from app.computations.uploads.profile import TYPES, profile_table
from app.errors import InvalidInput, LabError, TooLarge
from app.json_types import JsonValue

_MEMORY_BYTES = 768 << 20
_CELL_TEXT = 2_000
_PREVIEW_BYTES = 1 << 20


def run_sql(
    bench: Bench, sql: str, rows: int = 50, max_rows: int = 5_000_000, memory_bytes: int = _MEMORY_BYTES
) -> dict[str, JsonValue]:
    """Run one SELECT over the inputs, each a table of its name, and leave its rows as result.parquet.

    Returns `{"columns", "rows", "row_count", "truncated"}`: the first `rows` rows as JSON, and whether there
    are more. Raises InvalidInput naming what is not admitted or not there, with the nearest names; TooLarge
    when the query has more than `max_rows` rows or needs more than `memory_bytes` of memory.
    """
    return _answer(bench, sql, rows, max_rows, memory_bytes)


def preview(bench: Bench, limit: int = 20, offset: int = 0) -> dict[str, JsonValue]:
    """Rows of the input `table` in file order: `{"columns", "rows", "offset", "total"}`."""
    with sql.connect(bench, bench.output, _MEMORY_BYTES) as connection:
        table = _read(bench.inputs["table"])
        total = _count(connection, bench.inputs["table"])
        page = connection.execute(f"{table} LIMIT ? OFFSET ?", [limit, offset])
        columns, rows = _shown(page, limit)
    return {"columns": columns, "rows": rows, "offset": offset, "total": total}


def statistics(bench: Bench) -> dict[str, JsonValue]:
    """The profile of the input `table`: what each of its columns holds."""
    with sql.connect(bench, bench.output, _MEMORY_BYTES) as connection:
        return profile_table(connection, bench.inputs["table"])


def _answer(bench: Bench, question: str, rows: int, max_rows: int, memory_bytes: int) -> dict[str, JsonValue]:
    require_question(question, bench.inputs)
    work, target = bench.output / ".work", bench.output / "result.parquet"
    work.mkdir()
    try:
        with sql.connect(bench, work, memory_bytes, target) as connection:
            row_count = _keep(connection, bench, question, target, max_rows)
            columns, shown = _shown(connection.execute(_read(target)), rows)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return {"columns": columns, "rows": shown, "row_count": row_count, "truncated": row_count > len(shown)}


def _keep(
    connection: duckdb.DuckDBPyConnection, bench: Bench, question: str, target: Path, max_rows: int
) -> int:
    """Write the answer and count its rows, with every door of the database shut."""
    (tree,) = connection.execute("SELECT json_serialize_sql(?)", [question]).fetchone() or ("{}",)
    require_plain_tree(json.loads(tree), bench.inputs)
    known = _open_tables(connection, bench.inputs)
    _lock(connection)
    try:
        answer = connection.sql(question)
        kinds = zip(answer.columns, answer.types, strict=True)
        _, cells, _ = plain_columns([(name, str(kind), f"c{n}") for n, (name, kind) in enumerate(kinds)])
        labels = ", ".join(f"c{n}" for n in range(len(answer.columns)))
        plain = f"SELECT {', '.join(cells)} FROM answer AS answer({labels})"  # noqa: S608 - names are quoted
        kept = cast(duckdb.DuckDBPyRelation, answer.limit(max_rows + 1).query("answer", plain))
        kept.write_parquet(str(target), compression="zstd")
        count = _count(connection, target)
    except duckdb.Error as error:
        target.unlink(missing_ok=True)
        raise unknown_column(str(error), known) or _failure(error) from error
    if count > max_rows:
        target.unlink()
        raise TooLarge(
            "result_too_large",
            f"The query has more than {max_rows:,} rows; aggregate, filter or add LIMIT.",
            limit_rows=max_rows,
        )
    return count


def _read(path: Path) -> str:
    return f"SELECT * FROM read_parquet({sql.text(path)})"  # noqa: S608 - quoted


def _count(connection: duckdb.DuckDBPyConnection, path: Path) -> int:
    found = connection.execute(f"SELECT count(*) FROM read_parquet({sql.text(path)})").fetchone()  # noqa: S608
    return int(found[0]) if found else 0


def _open_tables(connection: duckdb.DuckDBPyConnection, inputs: Mapping[str, Path]) -> list[str]:
    """A view per input; the names of all their columns."""
    columns: list[str] = []
    for table, path in inputs.items():
        connection.execute(f"CREATE VIEW {sql.name(table)} AS FROM read_parquet({sql.text(path)})")
        columns += connection.table(table).columns
    return columns


def _lock(connection: duckdb.DuckDBPyConnection) -> None:
    for setting in ("lambda_syntax = 'ENABLE_SINGLE_ARROW'", "lock_configuration = true"):
        connection.execute(f"SET {setting}")


def _shown(found: duckdb.DuckDBPyConnection, limit: int) -> tuple[list[JsonValue], list[JsonValue]]:
    """Columns, and up to `limit` rows as JSON, fewer where the cells are large."""
    columns: list[JsonValue] = [
        {"name": name, "type": TYPES.get(str(kind), "text")} for name, kind, *_ in found.description or []
    ]
    rows: list[JsonValue] = []
    size = 0
    for row in found.fetchmany(limit):
        cells = [plain(cell) for cell in row]
        size += sum(len(cell) if isinstance(cell, str) else 8 for cell in cells)
        if size > _PREVIEW_BYTES:
            break
        rows.append(list(cells))
    return columns, rows


def _failure(error: duckdb.Error) -> LabError:
    first = str(error).splitlines()[0][:300]
    if isinstance(error, duckdb.OutOfMemoryException):
        return TooLarge("query_too_large", f"The query needs too much memory: {first}")
    return InvalidInput("sql_failed", f"The query failed: {first}")


def plain(cell: object) -> JsonValue:
    """A cell as JSON: ISO times, finite numbers, text cut at 2,000 characters."""
    match cell:
        case None | bool() | int():
            return cell
        case float():
            return cell if math.isfinite(cell) else None
        case dt.datetime() | dt.date():
            return cell.isoformat()
        case _:
            return str(cell)[:_CELL_TEXT]
