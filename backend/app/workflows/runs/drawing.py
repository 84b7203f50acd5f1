"""Nodes that draw charts."""

from typing import Any

from app.sandbox.computation_runner import ComputationResult
from app.sessions.step_scope import CallResult
from app.tools.queries.chart_drawing import CHART, ChartDrawing, list_units
from app.workflows.document import Node
from app.workflows.fusion import make_plans
from app.workflows.node_configs import Chart
from app.workflows.runs.context import Results, RunContext
from app.workflows.runs.result_values import fill_template
from app.workflows.runs.schemas import NodeResult
from app.workflows.runs.tables import MAX_PREVIEW_ROWS, compute_sql


async def draw_chart(ctx: RunContext, node: Node, config: Chart, results: Results) -> CallResult:
    """Draw the table that reaches a node. Raises InvalidInput for a column that does not fit."""
    plan = make_plans(ctx.document, await ctx.dataset_tables())[node.id]
    digests, schemas = await ctx.read_tables()

    async def compute(sql: str, rows: int) -> ComputationResult:
        return await compute_sql(ctx, sql, digests, rows)

    units = list_units(await ctx.services.datasets.list())
    title = fill_template(ctx, config.title, results) if config.title else None
    request = config.model_copy(update={"title": title}).make_request(plan)
    drawing = ChartDrawing(schemas, units, compute, ctx.services.frames, ctx.services.renderer)
    answer = await drawing.draw(request, node.id)
    value: Any = answer.value
    result = NodeResult(
        status="done",
        rows=value["row_count"],
        columns=value["columns"],
        preview=value["rows"][:MAX_PREVIEW_ROWS],
        chart=value["chart"],
        notes=[value["problem"]] if value.get("problem") else [],
        needs_review=bool(value.get("problem")),
    )
    charts = [artifact for artifact in answer.artifacts if artifact.kind == CHART]
    return CallResult(result.model_dump(mode="json"), answer.summary, charts)
