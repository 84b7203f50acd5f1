"""Backtest of the chosen model after its evaluation. No agent calls it, so that nothing is selected by it."""

from typing import Annotated, Any

from pydantic import Field

from app.errors import ToolRefused
from app.modeling.facts.conversion import parse_facts
from app.modeling.facts.fits import CandidateFit
from app.modeling.problem.kinds import BASELINE
from app.sandbox.computation_runner import ComputationFailed
from app.sandbox.exchange.contract import Computation
from app.sessions.step_scope import CallResult
from app.tools.context.tool_context import ToolContext
from app.tools.data.computed_facts import BacktestOutcome
from app.tools.data.frames import figure_artifacts, make_artifact
from app.tools.finalization.isolated_predictions import predict_holdout_in_isolation
from app.tools.fits.fit_parts import PART_KIND, load_model, read_part
from app.tools.registry import tool

TRADES_FILE = "backtest.csv"

Bps = Annotated[float, Field(ge=0, le=1000, description="Basis points of the traded value.")]


@tool(agents=())
async def backtest_model(
    ctx: ToolContext, model: str, fee_bps: Bps, slippage_bps: Bps = 0.0, long_only: bool = False
) -> CallResult:
    """Simulate trading on the model's forecasts over the hold-out, after costs."""
    traded_model = await load_model(ctx, model)
    train = await ctx.frames.frame("train")
    holdout = await ctx.frames.artifact("holdout", "holdout")
    inputs = {"train": train.digest, "holdout": holdout.digest}
    fits: list[Any] = []
    for ref in [*await ctx.frames.artifacts("model"), *await ctx.frames.artifacts(PART_KIND)]:
        part = read_part(ref)
        # A fit on all rows has no rows left that it did not see.
        if part.fit.estimator == BASELINE or not part.oof or part.fit.fitted_folds == []:
            continue
        inputs[f"oof_{len(fits)}"] = part.oof
        fits.append({"name": part.fit.name, "calibration": part.fit.calibration})
    terms: Any = {
        "fee_bps": fee_bps,
        "slippage_bps": slippage_bps,
        "low": 0.0 if long_only else -1.0,
        "high": 1.0,
    }
    params = {"model": model, "terms": terms, "fits": fits, "chosen": _chosen_model_facts(traded_model.fit)}
    try:
        if traded_model.contains_code:
            inputs |= {"answers": await predict_holdout_in_isolation(ctx, traded_model, holdout)}
        else:
            inputs |= {"model": traded_model.model}
        work = Computation("models.backtest.backtest_model", params)
        computed = await ctx.computer.run(work, inputs)
    except ComputationFailed as failed:
        # The session keeps its model and score if the backtest fails.
        raise ToolRefused(f"{model} could not be traded: {failed.detail}") from failed
    outcome = parse_facts(BacktestOutcome, computed.value)
    ledger = make_artifact(computed.file(TRADES_FILE), "table", TRADES_FILE)
    return CallResult(
        value=computed.value,
        summary=outcome.verdict[:500],
        artifacts=[ledger, *figure_artifacts(computed, outcome.figures)],
    )


def _chosen_model_facts(fit: CandidateFit) -> dict[str, Any]:
    """Return the facts of a model that its predictions are interpreted by."""
    return {"problem": fit.problem, "calibration": fit.calibration}
