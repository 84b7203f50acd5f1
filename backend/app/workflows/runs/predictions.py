"""Nodes that predict: the rows of a table beside the predictions of a model."""

from app.artifacts.predictions import TABLE_CELL_LIMITS
from app.sandbox.exchange.contract import Computation
from app.sessions.step_scope import CallResult
from app.workflows.document import Node
from app.workflows.node_configs import Predict
from app.workflows.runs.context import Results, RunContext
from app.workflows.runs.tables import MAX_PREVIEW_ROWS, find_input_frame, store_table

MAX_NOTES = 20
"""Warnings about columns that a result lists."""


async def predict_table(ctx: RunContext, node: Node, config: Predict, results: Results) -> CallResult:
    """Predict the table of a node, in a cell of untrusted work. Raises NotFound for a model that is gone."""
    # When it runs, not when it is saved: by its target a node uses the newest model.
    model = await ctx.services.find_model(config.model_id, config.target)
    table = await find_input_frame(ctx, ctx.document.inputs_of(node.id)[0])
    # A stored model may run code.
    params = {"rows": MAX_PREVIEW_ROWS, "strict": config.strict}
    work = Computation("models.predict_table.add_predictions", params, trusted=False)
    inputs = {"model": model, "table": table.digest}
    computed = await ctx.services.computer.run(work, inputs, TABLE_CELL_LIMITS)
    warnings = _read_notes(computed.value)
    return store_table(node, computed, warnings, needs_review=bool(warnings))


def _read_notes(value: object) -> list[str]:
    warnings = value.get("warnings") if isinstance(value, dict) else None
    entries = warnings if isinstance(warnings, list) else []
    return [f"{warning['rows']:,} rows: {warning['text']}" for warning in entries][:MAX_NOTES]
