"""The tool that draws the answer of a study's question, in its report and as files."""

from app.charts.chart_request import ChartKind
from app.plans.plan_document import PlanDocument
from app.sandbox.computation_runner import ComputationResult
from app.sandbox.exchange.contract import Computation
from app.sessions.step_scope import ArtifactDraft, CallResult
from app.tools.context.tool_context import ToolContext
from app.tools.data.sql_tables import list_queryable_tables, list_table_schemas
from app.tools.queries.answers import DATA_ANALYST
from app.tools.queries.chart_drawing import (
    ChartDrawing,
    Column,
    Measures,
    MovingAverage,
    list_units,
    make_request,
)
from app.tools.registry import tool

ANSWER_CHART = "answer_chart"
"""Name of the figure in the report, and of its files without their extension."""


@tool(agents=DATA_ANALYST)
async def draw_answer(
    ctx: ToolContext,
    kind: ChartKind,
    plan: PlanDocument,
    x: Column = None,
    y: Measures = [],  # noqa: B006 - never changed
    color: Column = None,
    moving_average: MovingAverage = None,
) -> CallResult:
    """Draw the rows of a query plan as the chart of the answer, where the question asks for one.

    `bar`, `line` and `area` take aggregated rows; `histogram`, `box` and `scatter` the rows themselves.
    """
    request = make_request(kind=kind, plan=plan, x=x, y=y, color=color, moving_average=moving_average)
    tables = await list_queryable_tables(ctx.datasets, ctx.frames)

    async def compute(sql: str, rows: int) -> ComputationResult:
        return await ctx.computer.run(
            Computation("queries.query.run_sql", {"sql": sql, "rows": rows}, query_mode="plan"), tables
        )

    schemas = await list_table_schemas(ctx.datasets, ctx.frames, tables)
    units = list_units(await ctx.datasets.list())
    drawing = ChartDrawing(schemas, units, compute, ctx.frames, ctx.renderer)
    chart, images = await drawing.draw_images(request, ANSWER_CHART)
    figures = []
    if images is not None:
        for suffix, media_type, content in (
            ("svg", "image/svg+xml", images.svg),
            ("png", "image/png", images.png),
        ):
            blob = await ctx.frames.put(content)
            figures.append(
                ArtifactDraft("figure", f"{ANSWER_CHART}.{suffix}", media_type, blob.digest, blob.size_bytes)
            )
    return CallResult(chart.value, chart.summary, figures)
