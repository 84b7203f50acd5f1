"""Answers of questions, read and run by DuckDB over made-up rows."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import duckdb

from app.agents.goals.tables.profiles import TableProfile
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.parser import parse_question
from app.plans.compiler import compile_plan
from app.plans.schema import read_table_schema


@contextmanager
def open_tables(rows: Mapping[TableProfile, str]) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database with tables, whose rows are written as SQL has them behind VALUES."""
    with duckdb.connect() as connection:
        for table, values in rows.items():
            names = ", ".join(column.name for column in table.columns)
            connection.execute(f"CREATE TABLE {table.name} AS FROM (VALUES {values}) AS r ({names})")
        yield connection


def answer(database: duckdb.DuckDBPyConnection, question: str, table: TableProfile) -> list[tuple[Any, ...]]:
    """Return the rows that answer a question about a table."""
    parsed = parse_question(question, [table])
    assert isinstance(parsed, ParsedQuestion), parsed
    columns = [{"name": c.name, "type": "text" if c.is_stored_as_text else c.type} for c in table.columns]
    schema = read_table_schema(columns)
    return database.execute(compile_plan(parsed.plan, {table.name: schema}).sql).fetchall()
