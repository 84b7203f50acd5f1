"""The tool that draws charts over the tables of a conversation."""

from typing import Annotated

from pydantic import Field

from app.charts.chart_request import ChartKind, ChartRequest
from app.plans.plan_document import PlanDocument
from app.plans.schema import read_table_schema
from app.sandbox.computation_runner import ComputationResult
from app.sessions.step_scope import CallResult
from app.tools.context.tool_context import ToolContext
from app.tools.conversations.interactive_limits import INTERACTIVE_LIMITS
from app.tools.conversations.queries import ASSISTANT, Readings, compute_sql
from app.tools.queries.chart_drawing import (
    CHART,
    ChartDrawing,
    Column,
    Measures,
    MovingAverage,
    list_units,
    make_request,
)
from app.tools.registry import tool


@tool(agents=ASSISTANT)
async def make_chart(
    ctx: ToolContext,
    kind: ChartKind,
    plan: PlanDocument,
    x: Column = None,
    y: Measures = [],  # noqa: B006 - never changed
    color: Column = None,
    title: Annotated[str | None, Field(max_length=200)] = None,
    moving_average: MovingAverage = None,
    readings: Readings = [],  # noqa: B006 - never changed
) -> CallResult:
    """Draw the rows of a query plan. The user sees the chart and its rows.

    `bar`, `line` and `area` take aggregated rows. `histogram`, `box` and `scatter` take the rows themselves:
    bins and quartiles are computed. `heatmap` without columns shows the correlations of all numbers. A scatter
    chart of many rows shows some of them by chance, bars the greatest.
    """
    request = make_request(
        kind=kind, plan=plan, x=x, y=y, color=color, title=title, moving_average=moving_average
    )
    return await draw_chart(ctx, request)


async def draw_chart(ctx: ToolContext, request: ChartRequest) -> CallResult:
    """Draw a chart over the tables of the conversation. Raises InvalidInput as `ChartDrawing.draw`."""
    conversation = await ctx.conversation.tables()
    refs = conversation.list_refs()

    async def compute(sql: str, rows: int) -> ComputationResult:
        return await compute_sql(ctx, conversation, sql, INTERACTIVE_LIMITS, rows=rows, query_mode="plan")

    schemas = {ref.table: read_table_schema(ref.columns) for ref in refs}
    return await ChartDrawing(schemas, list_units(refs), compute, ctx.frames, ctx.renderer).draw(request, CHART)
