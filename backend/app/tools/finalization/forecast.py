"""Forecast after the last row, once the model is evaluated. No agent calls it."""

from typing import Annotated, Any, Literal

from pydantic import Field

from app.errors import ToolRefused
from app.modeling.facts.conversion import parse_facts
from app.sandbox.computation_runner import ComputationFailed
from app.sandbox.exchange.contract import Computation
from app.sessions.step_scope import CallResult
from app.tools.context.tool_context import ToolContext
from app.tools.data.computed_facts import ForecastRange, json_object
from app.tools.data.frames import figure_artifacts, make_artifact
from app.tools.fits.fit_parts import load_model
from app.tools.registry import tool

AnswerForm = Literal["each_period", "sum", "mean", "last", "maximum", "minimum"]
"""Part of a forecast that is asked for."""


@tool(agents=())
async def forecast_future(
    ctx: ToolContext,
    model: Annotated[str, Field(max_length=200)],
    is_model: bool = True,
    answer: AnswerForm = "each_period",
    skipped: Annotated[int, Field(ge=0)] = 0,
    ranking: Literal["most", "least"] | None = None,
    bound: dict[str, Any] | None = None,
) -> CallResult:
    """Forecast each series after its last row by the delivered model, or by the best classical methods."""
    part = await load_model(ctx, model)
    train = await ctx.frames.frame("train")
    holdout = await ctx.frames.artifact("holdout", "holdout")
    params: dict[str, Any] = {"is_model": is_model, "answer": answer, "skipped": skipped}
    # Left out where there is none, so that steps recorded before are found again by their arguments.
    params |= {"ranking": ranking} if ranking else {}
    params |= {"bound": bound} if bound else {}
    work = Computation("models.forecast.forecast_future", params, trusted=not part.contains_code)
    inputs = {"train": train.digest, "holdout": holdout.digest, "model": part.model}
    try:
        computed = await ctx.computer.run(work, inputs)
    except ComputationFailed as failed:
        # The session keeps its model and score if the forecast fails.
        raise ToolRefused(f"{model} could not forecast: {failed.detail}") from failed
    forecast = parse_facts(ForecastRange, computed.value)
    files = [
        make_artifact(computed.file(name), "table", name) for name in ("forecasts.csv", "forecasts.parquet")
    ]
    delivered = model
    if forecast.forecaster is not None:
        delivered = f"Classical methods beside {model}"
        meta = {"fit": dict(part.fit.document), "oof": part.oof}
        files.append(make_artifact(computed.file("model.skops"), "model", delivered, meta))
    return CallResult(
        value={**json_object(computed), "model": model, "delivered": delivered},
        summary=f"{forecast.rows:,} forecasts, from {_moment(forecast.first)} to {_moment(forecast.last)}.",
        artifacts=[*files, *figure_artifacts(computed, forecast.figures)],
    )


def _moment(time: Any) -> str:
    """Return a moment without a time of day that says nothing."""
    return str(time).removesuffix("T00:00:00")
