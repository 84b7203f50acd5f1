"""Run of a query plan: its compiled SELECT, and the counts of the rows behind it."""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict

from app.errors import LabError, Unavailable
from app.json_types import JsonValue
from app.plans.compiler import compile_plan
from app.plans.plan import Plan
from app.plans.row_counts import make_counting_plans
from app.plans.schema import TableSchema
from app.sandbox.exchange.answer_limits import MAX_PREVIEW_ROWS
from app.sandbox.exchange.contract import Computation, Limits
from app.sessions.step_scope import CallResult
from app.tools.context.tool_context import ToolContext
from app.tools.data.sql_tables import list_queryable_tables, list_table_schemas
from app.tools.queries.program_execution import output_artifacts, success_report


async def run_plan(ctx: ToolContext, plan: Plan, limits: Limits) -> CallResult:
    """Compile and run a plan over the visible tables; the outcome also holds `sql`, `rows_used`, `rows_there`.

    Raises LabError when the plan does not fit the tables, ComputationFailed when its query fails.
    """
    digests = await list_queryable_tables(ctx.datasets, ctx.frames)
    schemas = await list_table_schemas(ctx.datasets, ctx.frames, digests)
    compiled = compile_plan(plan, schemas)
    params: dict[str, JsonValue] = {"sql": compiled.sql, "rows": MAX_PREVIEW_ROWS}
    work = Computation("queries.query.run_sql", params, query_mode="plan")
    computed = await ctx.computer.run(work, digests, limits)
    # By queries of their own: an answer has groups, and not the rows behind them.
    counting = make_counting_plans(plan)
    outcome = success_report(computed)
    outcome["sql"] = compiled.sql
    outcome["rows_used"] = await _count(ctx, counting.rows_used, schemas, digests, limits)
    outcome["rows_there"] = await _count(ctx, counting.rows_there, schemas, digests, limits)
    return CallResult(outcome, f"It ended in {computed.usage.wall_s:.1f} s.", output_artifacts(computed))


class _CountRows(BaseModel):
    model_config = ConfigDict(extra="ignore")

    rows: list[list[int]]


async def _count(
    ctx: ToolContext,
    plan: Plan,
    schemas: Mapping[str, TableSchema],
    digests: Mapping[str, str],
    limits: Limits,
) -> int | None:
    """The count of a counting plan; None where it exceeds the limits of the run."""
    work = Computation("queries.query.run_sql", {"sql": compile_plan(plan, schemas).sql, "rows": 1})
    try:
        computed = await ctx.computer.run(work, digests, limits)
    except Unavailable:
        raise
    except LabError:
        return None
    return _CountRows.model_validate(computed.value).rows[0][0]
