"""Answers to questions about tables: the rows of one SELECT, and the number of rows behind them."""

from sqlglot import exp

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.queries.query import QUERY_MEMORY_BYTES, run_counted_sql
from app.computations.sql_policy.select_policy import parse_statements, require_select
from app.json_types import JsonValue

MAX_ROWS = 200
"""Rows of an answer in its facts; its file has all of them."""


def answer(
    workspace: CellWorkspace,
    sql: str,
    counts: tuple[str, str] | None = None,
    memory_bytes: int = QUERY_MEMORY_BYTES,
    rows: int = MAX_ROWS,
) -> dict[str, JsonValue]:
    """Run one SELECT over the inputs, as `query.run_sql` does, and count the rows behind it.

    Adds `"rows_used"`, `"rows_there"` and `"tables"` to the facts: the number of joined rows of its tables with
    and without its WHERE; both are null if the SELECT does not read tables directly. `counts`: two SELECTs that
    count them instead. Leaves result.parquet.
    """
    if counts is None:
        require_select(sql, workspace.inputs)
    used, total = counts or make_count_queries(sql)
    # Without a WHERE both counts are the same query, which runs once.
    counting = [query for query in dict.fromkeys((used, total)) if query is not None]
    facts, numbers = run_counted_sql(workspace, sql, counting, rows, memory_bytes=memory_bytes)
    rows_behind: dict[str | None, JsonValue] = dict(zip(counting, numbers, strict=True))
    return {
        **facts,
        "rows_used": rows_behind.get(used),
        "rows_there": rows_behind.get(total),
        "tables": [*list_tables(sql, workspace)],
    }


def make_count_queries(sql: str) -> tuple[str | None, str | None]:
    """Make two SELECTs that count the rows behind an answer, with and without its WHERE."""
    (statement,) = parse_statements(sql)
    # The counting queries repeat FROM and joins alone, so names of a WITH would be unknown in them.
    if not isinstance(statement, exp.Select) or statement.args.get("with_"):
        return None, None
    source = statement.args.get("from_")
    joins = statement.args.get("joins") or []
    if source is None or not all(_is_table(side.this) for side in (source, *joins)):
        return None, None
    counting = exp.select("count(*)").from_(source.this.copy())
    for join in joins:
        counting.append("joins", join.copy())
    where = statement.args.get("where")
    used = counting.where(where.this.copy()) if where else counting
    return used.sql(dialect="duckdb"), counting.sql(dialect="duckdb")


def _is_table(side: exp.Expr) -> bool:
    """Return true for a table by name, false for a table function."""
    return isinstance(side, exp.Table) and isinstance(side.this, exp.Identifier)


def list_tables(sql: str, workspace: CellWorkspace) -> list[str]:
    """List the inputs that a SELECT reads."""
    (statement,) = parse_statements(sql)
    names = {table.name.casefold() for table in statement.find_all(exp.Table)}
    return [name for name in workspace.inputs if name.casefold() in names]
