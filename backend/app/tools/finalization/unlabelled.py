"""Predictions of the rows without a target, once the model is evaluated. No agent calls it."""

from typing import Annotated

from pydantic import Field

from app.counts import describe_count
from app.errors import LabError, ToolRefused
from app.modeling.facts.conversion import parse_facts
from app.sandbox.exchange.contract import Computation, Limits
from app.sessions.step_scope import CallResult
from app.tools.context.tool_context import ToolContext
from app.tools.data.computed_facts import UnlabelledRows
from app.tools.data.frames import RETRIEVED, make_artifact
from app.tools.fits.fit_parts import load_model
from app.tools.registry import tool

LIMITS = Limits(time_s=30.0)
"""Limits of the predictions: the session keeps its model and score where they take longer."""


@tool(agents=())
async def predict_unlabelled(
    ctx: ToolContext, model: Annotated[str, Field(max_length=200)], ranked_by: str | None = None
) -> CallResult:
    """Predict the rows of the session's table that have no value of the target, by the delivered model.

    `ranked_by`: column that names who is ranked; the highest predictions come first.
    """
    part = await load_model(ctx, model)
    table = await ctx.frames.artifact("frame", RETRIEVED)
    params = {"ranked_by": ranked_by} if ranked_by else {}
    work = Computation("models.predict_unlabelled.predict_unlabelled", params, trusted=not part.contains_code)
    try:
        computed = await ctx.computer.run(work, {"table": table.digest, "model": part.model}, LIMITS)
    except LabError as failed:
        raise ToolRefused(f"Rows without a target could not be predicted: {failed.detail}") from failed
    predicted = parse_facts(UnlabelledRows, computed.value)
    return CallResult(
        value=computed.value,
        summary=f"{describe_count(predicted.rows, 'row')} without a target predicted.",
        artifacts=[make_artifact(file, "table", file.name) for file in computed.files],
    )
