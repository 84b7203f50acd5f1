"""Forecast after the last row, once the model is evaluated. No agent calls it."""

from typing import Annotated, Any

from pydantic import Field

from app.errors import ToolRefused
from app.modeling.problem.custom_code import contains_code
from app.sandbox.computer import ComputationFailed
from app.sandbox.contract import Computation
from app.sessions.step_scope import CallResult
from app.tools.context import ToolContext
from app.tools.frames import figure_artifacts, make_artifact
from app.tools.registry import tool


@tool(agents=())
async def forecast_future(ctx: ToolContext, model: Annotated[str, Field(max_length=200)]) -> CallResult:
    """Forecast each series after its last row by the delivered model."""
    ref = await ctx.frames.artifact("model", model)
    train = await ctx.frames.frame("train")
    holdout = await ctx.frames.artifact("holdout", "holdout")
    work = Computation("forecast.forecast_future", trusted=not contains_code(ref.meta["fit"]))
    inputs = {"train": train.digest, "holdout": holdout.digest, "model": ref.digest}
    try:
        computed = await ctx.computer.run(work, inputs)
    except ComputationFailed as failed:
        # The session keeps its model and score if the forecast fails.
        raise ToolRefused(f"{model} could not forecast: {failed.detail}") from failed
    value: Any = {**computed.value, "model": model}  # type: ignore[dict-item]  # an object
    files = [
        make_artifact(computed.file(name), "table", name) for name in ("forecasts.csv", "forecasts.parquet")
    ]
    return CallResult(
        value=value,
        summary=f"{value['rows']:,} forecasts, from {value['first']} to {value['last']}.",
        artifacts=[*files, *figure_artifacts(computed, value["figures"])],
    )
