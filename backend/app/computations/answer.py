"""Answers to questions: the rows of one SELECT, and how many rows they rest on."""

from dataclasses import replace
from typing import Any

import sqlglot
from sqlglot import exp

from app.computations.bench import Bench
from app.computations.query import run_sql
from app.json_types import JsonValue

MAX_ROWS = 200
"""Rows of an answer that are shown; the others lie in its file."""


def answer(bench: Bench, sql: str) -> dict[str, JsonValue]:
    """Run one SELECT over the inputs, as `query.run_sql`, and count the rows that it rests on.

    Adds `"rows_used"`, `"rows_there"` and `"tables"` to its facts: the rows of its tables, as joined, that its
    WHERE leaves, and those without the WHERE. Both are null where the SELECT does not read tables plainly.
    Leaves result.parquet.
    """
    facts = run_sql(bench, sql, rows=MAX_ROWS)
    used, there = rows_behind(sql)
    return {
        **facts,
        "rows_used": _counted(bench, used),
        "rows_there": _counted(bench, there),
        "tables": [*tables_of(sql, bench)],
    }


def rows_behind(sql: str) -> tuple[str | None, str | None]:
    """Two SELECTs that count the rows that an answer rests on, and those that there are before its WHERE."""
    statement = sqlglot.parse_one(sql, dialect="duckdb")
    if not isinstance(statement, exp.Select) or statement.args.get("with_"):
        return None, None
    source = statement.args.get("from_")
    joins = statement.args.get("joins") or []
    if source is None or not all(_is_plain(side.this) for side in (source, *joins)):
        return None, None
    counting = exp.select("count(*)").from_(source.this.copy())
    for join in joins:
        counting.append("joins", join.copy())
    where = statement.args.get("where")
    used = counting.where(where.this.copy()) if where else counting
    return used.sql(dialect="duckdb"), counting.sql(dialect="duckdb")


def _is_plain(side: exp.Expr) -> bool:
    """A table by its name; a function that makes rows is none."""
    return isinstance(side, exp.Table) and isinstance(side.this, exp.Identifier)


def tables_of(sql: str, bench: Bench) -> list[str]:
    """The inputs that a SELECT reads."""
    named = {table.name.casefold() for table in sqlglot.parse_one(sql, dialect="duckdb").find_all(exp.Table)}
    return [name for name in bench.inputs if name.casefold() in named]


def _counted(bench: Bench, sql: str | None) -> JsonValue:
    if sql is None:
        return None
    apart = bench.output / ".counted"
    apart.mkdir(exist_ok=True)
    facts: Any = run_sql(replace(bench, output=apart), sql)
    (apart / "result.parquet").unlink()
    apart.rmdir()
    found: JsonValue = facts["rows"][0][0]
    return found
