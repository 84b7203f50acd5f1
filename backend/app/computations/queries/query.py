"""Queries on tables: SQL under the policy, and statistics."""

import datetime as dt
import itertools
import json
import math
import shutil
from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path

import duckdb

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.sql_policy.select_policy import (
    require_select,
    require_select_tree,
    translate_unknown_column,
)
from app.computations.uploads import sql
from app.computations.uploads.parquet_and_json import plain_columns
from app.computations.uploads.profile import TYPES, profile_table
from app.errors import InvalidInput, LabError, TooLarge
from app.json_types import JsonValue
from app.plans.identifiers import quote_identifier

QUERY_MEMORY_BYTES = 768 << 20
"""Memory of DuckDB; larger work spills to disk."""
MAX_ROWS = 5_000_000
"""Rows of a result: as many as an upload is measured with."""
MAX_PREVIEW_ROWS = 100
"""Rows of a preview, as of a program's table (`sandbox.exchange.answer_limits`): a few screens."""
_CELL_CHARACTERS = 2_000
"""Characters of a cell in a preview."""
_PREVIEW_BYTES = 1 << 20
"""Size of all cells of a preview."""


def run_sql(
    workspace: CellWorkspace,
    sql: str,
    rows: int = MAX_PREVIEW_ROWS,
    max_rows: int = MAX_ROWS,
    memory_bytes: int = QUERY_MEMORY_BYTES,
    schemas: Mapping[str, str] | None = None,
) -> dict[str, JsonValue]:
    """Run one SELECT over the inputs, each a table of its name, and write its rows to result.parquet.

    `schemas`: ids of datasets with their tables; `"<id>".orders` is then the table `orders`.
    Returns `{"columns", "rows", "row_count", "truncated"}`: the first `rows` rows as JSON, and whether there
    are more. Raises InvalidInput that names what is not admitted or does not exist, with the nearest names;
    TooLarge if the query has more than `max_rows` rows or needs more than `memory_bytes` of memory.
    """
    return _run_query(workspace, sql, (), rows, max_rows, memory_bytes, schemas or {})[0]


def run_counted_sql(
    workspace: CellWorkspace,
    sql: str,
    counts: Sequence[str],
    rows: int,
    max_rows: int = MAX_ROWS,
    memory_bytes: int = QUERY_MEMORY_BYTES,
) -> tuple[dict[str, JsonValue], list[int]]:
    """Run a query as `run_sql` does, and `counts`, SELECTs of one number each; its facts, and the numbers.

    All in one database: to open one takes longer than most queries. The policy holds for each of them.
    """
    return _run_query(workspace, sql, counts, rows, max_rows, memory_bytes, {})


def describe_result(workspace: CellWorkspace, target: Path, rows: int) -> dict[str, JsonValue]:
    """Describe a written table as `run_sql` does: columns, first rows and their number."""
    with sql.connect(workspace, workspace.output, QUERY_MEMORY_BYTES, target) as connection:
        row_count = _count(connection, target)
        columns, first_rows = fetch_json_rows(connection.execute(_read(target)), rows)
    return {
        "columns": columns,
        "rows": first_rows,
        "row_count": row_count,
        "truncated": row_count > len(first_rows),
    }


def statistics(workspace: CellWorkspace) -> dict[str, JsonValue]:
    """Profile the input `table` column by column."""
    with sql.connect(workspace, workspace.output, QUERY_MEMORY_BYTES) as connection:
        return profile_table(connection, workspace.inputs["table"])


def _run_query(
    workspace: CellWorkspace,
    question: str,
    counts: Sequence[str],
    rows: int,
    max_rows: int,
    memory_bytes: int,
    schemas: Mapping[str, str],
) -> tuple[dict[str, JsonValue], list[int]]:
    queries = (question, *counts)
    qualified = frozenset[tuple[str, str]]().union(
        *(require_select(query, workspace.inputs, schemas) for query in queries)
    )
    work, target = workspace.output / ".work", workspace.output / "result.parquet"
    work.mkdir()
    try:
        with sql.connect(workspace, work, memory_bytes, target) as connection:
            _require_admitted_trees(connection, workspace, queries, schemas)
            _open_tables(connection, workspace.inputs)
            _open_qualified_tables(connection, qualified)
            # From here on no setting changes, so the query cannot lift the limits of memory and files.
            _lock(connection)
            try:
                numbers = [_fetch_number(connection, counting) for counting in counts]
                row_count = _write_result(connection, question, workspace.inputs, target, max_rows)
            except duckdb.Error as error:
                target.unlink(missing_ok=True)
                names = _list_columns(connection, workspace.inputs)
                raise translate_unknown_column(str(error), names) or _failure(error) from error
            columns, preview_rows = fetch_json_rows(connection.execute(_read(target)), rows)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    facts: dict[str, JsonValue] = {
        "columns": columns,
        "rows": preview_rows,
        "row_count": row_count,
        "truncated": row_count > len(preview_rows),
    }
    return facts, numbers


def _require_admitted_trees(
    connection: duckdb.DuckDBPyConnection,
    workspace: CellWorkspace,
    queries: Sequence[str],
    schemas: Mapping[str, str],
) -> None:
    """Check each query as the database itself reads it."""
    for query in queries:
        (tree,) = connection.execute("SELECT json_serialize_sql(?)", [query]).fetchone() or ("{}",)
        require_select_tree(json.loads(tree), workspace.inputs, schemas)


def _fetch_number(connection: duckdb.DuckDBPyConnection, query: str) -> int:
    """Fetch the one number that a query over the open tables returns."""
    ((number,),) = connection.execute(query).fetchall()
    return int(number)


def _write_result(
    connection: duckdb.DuckDBPyConnection, question: str, tables: Iterable[str], target: Path, max_rows: int
) -> int:
    """Write the result and return the number of its rows.

    Statements are put before the query, never around it: it may end with a semicolon or a comment.
    """
    columns = connection.execute(f"DESCRIBE {question}").fetchall()
    # Columns are labelled by place, since two of a result may have the same name.
    kinds = [(str(name), str(kind), f"c{n}") for n, (name, kind, *_) in enumerate(columns)]
    _, cells, _ = plain_columns(kinds)
    labels = ", ".join(label for _, _, label in kinds)
    view = quote_identifier(_unused_name("answer", tables))
    connection.execute(f"CREATE VIEW {view} AS {question}")
    # One row over the limit tells that there are more, without computing the rest.
    plain = f"SELECT {', '.join(cells)} FROM {view} AS answer({labels}) LIMIT {max_rows + 1}"  # noqa: S608 - names are quoted
    copy = f"COPY ({plain}) TO {sql.text(target)} (FORMAT parquet, COMPRESSION zstd)"
    ((count,),) = connection.execute(copy).fetchall()
    if count > max_rows:
        target.unlink()
        raise TooLarge(
            "result_too_large",
            f"The query has more than {max_rows:,} rows; aggregate, filter or add LIMIT.",
            limit_rows=max_rows,
        )
    return int(count)


def _unused_name(stem: str, names: Iterable[str]) -> str:
    """Return a name that is none of `names`: a query can read no other table."""
    used = {name.casefold() for name in names}
    return next(name for name in (stem + "_" * n for n in itertools.count()) if name not in used)


def _read(path: Path) -> str:
    return f"SELECT * FROM read_parquet({sql.text(path)})"  # noqa: S608 - quoted


def _column_names(connection: duckdb.DuckDBPyConnection, path: Path) -> list[str]:
    return [str(column[0]) for column in connection.execute(f"{_read(path)} LIMIT 0").description]


def _count(connection: duckdb.DuckDBPyConnection, path: Path) -> int:
    row = connection.execute(f"SELECT count(*) FROM read_parquet({sql.text(path)})").fetchone()  # noqa: S608
    return int(row[0]) if row else 0


def _open_tables(connection: duckdb.DuckDBPyConnection, inputs: Mapping[str, Path]) -> None:
    """Create a view per input."""
    for table, path in inputs.items():
        connection.execute(f"CREATE VIEW {quote_identifier(table)} AS FROM read_parquet({sql.text(path)})")


def _list_columns(connection: duckdb.DuckDBPyConnection, inputs: Mapping[str, Path]) -> list[str]:
    """List the names of all columns of the inputs."""
    return [column for path in inputs.values() for column in _column_names(connection, path)]


def _open_qualified_tables(connection: duckdb.DuckDBPyConnection, qualified: Set[tuple[str, str]]) -> None:
    """Create the schemas that a query names before tables, as in `orders.orders`."""
    for schema, table in qualified:
        schema_name, name = quote_identifier(schema), quote_identifier(table)
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema_name}")
        connection.execute(f"CREATE VIEW {schema_name}.{name} AS FROM main.{name}")


def _lock(connection: duckdb.DuckDBPyConnection) -> None:
    sql.change_settings(connection, "lambda_syntax = 'ENABLE_SINGLE_ARROW'", "lock_configuration = true")


def fetch_json_rows(cursor: duckdb.DuckDBPyConnection, limit: int) -> tuple[list[JsonValue], list[JsonValue]]:
    """Return the columns, and up to `limit` rows as JSON, fewer if the cells are large."""
    columns: list[JsonValue] = [
        {"name": name, "type": TYPES.get(str(kind), "text")} for name, kind, *_ in cursor.description or []
    ]
    return columns, take_rows([cell_to_json(cell) for cell in row] for row in cursor.fetchmany(limit))


def take_rows(rows: Iterable[list[JsonValue]]) -> list[JsonValue]:
    """Take rows of JSON cells until they are as large as an answer may be."""
    json_rows: list[JsonValue] = []
    size = 0
    for cells in rows:
        size += sum(len(cell) if isinstance(cell, str) else 8 for cell in cells)
        if size > _PREVIEW_BYTES:
            break
        json_rows.append(cells)
    return json_rows


def _failure(error: duckdb.Error) -> LabError:
    first = str(error).splitlines()[0][:300]
    if isinstance(error, duckdb.OutOfMemoryException):
        return TooLarge("query_too_large", f"The query needs too much memory: {first}")
    return InvalidInput("sql_failed", f"The query failed: {first}")


def cell_to_json(cell: object) -> JsonValue:
    """Convert a cell to JSON: ISO times, finite numbers, text cut at 2,000 characters."""
    match cell:
        case None | bool() | int():
            return cell
        case float():
            return cell if math.isfinite(cell) else None
        case dt.datetime() | dt.date():
            return cell.isoformat()
        case _:
            return str(cell)[:_CELL_CHARACTERS]
