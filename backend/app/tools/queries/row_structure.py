"""Tools that answer a question by a search among rows: unusual ones, and groups of similar ones."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from app.counts import describe_count
from app.json_types import JsonValue
from app.modeling.facts.conversion import parse_facts
from app.plans.measures import Measure
from app.sandbox.computation_runner import ComputationResult
from app.sandbox.exchange.contract import Computation, Limits
from app.sessions.step_scope import CallResult
from app.tools.context.tool_context import ToolContext
from app.tools.data.computed_facts import GroupedRows, QueryRows, UnusualRowCount, json_object
from app.tools.data.frames import make_artifact
from app.tools.data.sql_tables import list_queryable_tables
from app.tools.queries.answers import ANSWER, DATA_ANALYST
from app.tools.queries.program_execution import Source
from app.tools.registry import tool

LIMITS = Limits(time_s=180.0)
"""Limits of a search: its trials end after a third of this, and the last one is finished."""
RESULT_FILE = "result.parquet"
ComparedColumns = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=200)]],
    Field(description="Columns to compare by; empty for all.", max_length=200),
]


@tool(agents=DATA_ANALYST)
async def find_unusual_rows(
    ctx: ToolContext,
    sql: Source,
    columns: ComparedColumns = [],  # noqa: B006 - never changed
    focus: Annotated[str | None, Field(max_length=200)] = None,
    side: Literal["low", "high"] | None = None,
) -> CallResult:
    """Answer by the rows of one SELECT (DuckDB) that do not fit the others, the least likely first.

    Select whole rows. `focus`: only values of this column ("underpriced houses": focus price, side low).
    """
    arguments: dict[str, JsonValue] = {"sql": sql, "columns": list(columns), "focus": focus, "side": side}
    computed = await _run(ctx, "unusual_rows", arguments)
    search = parse_facts(UnusualRowCount, computed.value)
    summary = f"{describe_count(search.unusual, 'unusual row')} of {search.rows_used:,}."
    return _answer_of(computed, sql, summary)


@tool(agents=DATA_ANALYST)
async def find_row_groups(
    ctx: ToolContext,
    sql: Source,
    columns: ComparedColumns = [],  # noqa: B006 - never changed
    count: Annotated[int | None, Field(ge=2, le=20)] = None,
) -> CallResult:
    """Answer by groups of similar rows of one SELECT (DuckDB), with the file of each row's group.

    `count`: only if the user names a number.
    """
    arguments: dict[str, JsonValue] = {"sql": sql, "columns": list(columns), "count": count}
    computed = await _run(ctx, "row_groups", arguments)
    search = parse_facts(GroupedRows, computed.value)
    measures: dict[str, Measure] = {"group": "key", "rows": "count", "share": "share"}
    return _answer_of(computed, sql, f"{describe_count(search.row_count, 'group')} of rows.", measures)


async def _run(ctx: ToolContext, function: str, arguments: dict[str, JsonValue]) -> ComputationResult:
    tables = await list_queryable_tables(ctx.datasets, ctx.frames)
    work = Computation(f"queries.row_structure.{function}", arguments)
    return await ctx.computer.run(work, tables, LIMITS)


def _answer_of(
    computed: ComputationResult, sql: str, summary: str, measures: Mapping[str, Measure] | None = None
) -> CallResult:
    """Return the result of a search in the form of other answers, with its table and its file of rows."""
    answer = parse_facts(QueryRows, computed.value)
    meta = {"rows": answer.row_count, "columns": answer.columns, "source": {"sql": sql}}
    value: dict[str, JsonValue] = {**json_object(computed), "language": "sql", "code": sql, "readings": []}
    if measures:
        value["measures"] = dict(measures)
    files = [make_artifact(file, "table", file.name) for file in computed.files if file.name != RESULT_FILE]
    return CallResult(
        value=value,
        summary=summary,
        artifacts=[make_artifact(computed.file(RESULT_FILE), "table", ANSWER, meta), *files],
    )
