"""Tools that answer questions about the data by a SELECT or a program."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from app.counts import describe_size
from app.errors import InvalidInput, ToolRefused
from app.json_types import JsonScalar, JsonValue
from app.modeling.facts.conversion import parse_facts
from app.plans.compiler import compile_plan
from app.plans.measures import Measure, find_measures
from app.plans.plan_document import PlanDocument
from app.plans.row_counts import make_counting_plans
from app.recorded_call import RecordedCall
from app.reporting.stated_answer import AnswerSources, UnknownFigure
from app.sandbox.computation_runner import ComputationFailed, ComputationResult
from app.sandbox.exchange.contract import Computation
from app.sessions.step_scope import CallResult
from app.tools.context.tool_context import ToolContext
from app.tools.data.computed_facts import QueryRows, json_object
from app.tools.data.frames import make_artifact
from app.tools.data.sql_tables import list_queryable_tables, list_table_schemas
from app.tools.queries.program_answer import make_answer
from app.tools.queries.program_execution import Source, output_artifacts, run_code
from app.tools.registry import tool

DATA_ANALYST = ("data_analyst",)
ANSWER = "answer"
Readings = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=500)]],
    Field(description="Interpretations of ambiguous words of the question, a sentence each.", max_length=20),
]


@tool(agents=DATA_ANALYST)
async def answer_by_sql(ctx: ToolContext, sql: Source, readings: Readings = []) -> CallResult:  # noqa: B006 - never changed
    """Answer the question by one SELECT (DuckDB) over the session's tables; its rows are the answer.

    Give each column a readable alias. Exclude rows without the measured value by a WHERE: the remaining rows
    are counted as the rows used. The last answer counts.
    """
    tables = await list_queryable_tables(ctx.datasets, ctx.frames)
    return _answer_of(
        await ctx.computer.run(Computation("queries.answer.answer", {"sql": sql}, query_mode="sql"), tables),
        sql,
        readings,
    )


@tool(agents=DATA_ANALYST)
async def answer_by_plan(ctx: ToolContext, plan: PlanDocument, readings: Readings = []) -> CallResult:  # noqa: B006 - see above
    """Answer the question by one query plan over the session's tables; its rows are the answer.

    The plan is compiled to a SELECT. The last answer counts.
    """
    tables = await list_queryable_tables(ctx.datasets, ctx.frames)
    schemas = await list_table_schemas(ctx.datasets, ctx.frames, tables)
    try:
        sql = compile_plan(plan, schemas).sql
        used, total = (compile_plan(counting, schemas).sql for counting in make_counting_plans(plan))
    except InvalidInput as error:
        raise ToolRefused(error.detail) from error
    arguments: dict[str, JsonValue] = {"sql": sql, "counts": [used, total]}
    computed = await ctx.computer.run(
        Computation("queries.answer.answer", arguments, query_mode="plan"), tables
    )
    return _answer_of(computed, sql, readings, find_measures(plan))


def _answer_of(
    computed: ComputationResult,
    sql: str,
    readings: Sequence[str],
    measures: Mapping[str, Measure] | None = None,
) -> CallResult:
    answer = parse_facts(QueryRows, computed.value)
    meta = {"rows": answer.row_count, "columns": answer.columns, "source": {"sql": sql}}
    value: dict[str, JsonValue] = {**json_object(computed), "language": "sql", "code": sql}
    value["readings"] = list(readings)
    if measures:
        value["measures"] = dict(measures)
    return CallResult(
        value=value,
        summary=f"{describe_size(answer.row_count, len(answer.columns))}.",
        artifacts=[make_artifact(computed.file("result.parquet"), "table", ANSWER, meta)],
    )


@tool(agents=DATA_ANALYST)
async def answer_by_program(ctx: ToolContext, code: Source, readings: Readings = []) -> CallResult:  # noqa: B006 - see above
    """Answer the question by a Python program, written as for `run_python`, where a SELECT cannot.

    Set `result` to a number, a text, a DataFrame, or lists and dicts of them. The last answer counts.
    """
    try:
        computed = await run_code(ctx, "python", code)
    except ComputationFailed as failed:
        raise ToolRefused(failed.detail) from failed
    output: Any = computed.value
    facts = make_answer(output.get("result") if isinstance(output, dict) else output)
    answer = parse_facts(QueryRows, facts)
    return CallResult(
        value={**facts, "language": "python", "code": code, "readings": list(readings)},
        summary=f"{describe_size(answer.row_count, len(answer.columns))}.",
        artifacts=output_artifacts(computed),
    )


@tool(agents=())
async def state_answer(
    ctx: ToolContext,
    text: str = "",
    values: dict[str, JsonScalar] = {},  # noqa: B006 - never changed
    unanswered: str = "",
    question: str = "",
) -> CallResult:
    """Record the analyst's own words of the answer, or the reason why there is none, for the report."""
    return CallResult(
        value={"text": text, "values": dict(values), "unanswered": unanswered, "question": question},
        summary=(text or unanswered).partition("\n")[0][:200],
    )


def find_unknown_figures(
    calls: Sequence[RecordedCall], quoted: Sequence[str], text: str, values: Mapping[str, JsonScalar]
) -> list[UnknownFigure]:
    """Return the figures of an answer in words that no recorded result holds."""
    sources = AnswerSources(calls, quoted)
    _, unknown = sources.find_all(text)
    # By type: 0 and 1 equal False and True, and are figures all the same.
    numbers = [
        value for value in values.values() if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    sourceless = [number for number in numbers if sources.find_value(number) is None]
    return [*unknown, *(UnknownFigure(repr(number), sources.nearest(float(number))) for number in sourceless)]
