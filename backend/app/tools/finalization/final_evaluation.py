"""Evaluation of the chosen model on the hold-out, once. No agent calls it."""

from typing import Any

from app.modeling.facts.conversion import parse_facts
from app.sandbox.contract import Computation
from app.sessions.step_scope import CallResult
from app.tools.computed_facts import ModelEvaluation, json_object
from app.tools.context import ToolContext
from app.tools.evaluation import ModelName
from app.tools.finalization.isolated_predictions import predict_holdout_in_isolation
from app.tools.fit_parts import load_model
from app.tools.fit_rounds import (
    format_number,
)
from app.tools.frames import figure_artifacts, find_training_frame
from app.tools.registry import tool


@tool(agents=())
async def final_evaluation(ctx: ToolContext, model: ModelName) -> CallResult:
    """Open the hold-out, once, for the model that was chosen."""
    part = await load_model(ctx, model)
    raw = await find_training_frame(ctx, "train")
    holdout = await ctx.frames.artifact("holdout", "holdout")
    inputs = {"train": raw.digest, "holdout": holdout.digest}
    params: dict[str, Any] = {"seed": ctx.session.seed}
    if part.contains_code:
        inputs |= {"answers": await predict_holdout_in_isolation(ctx, part, holdout)}
        params |= {"fit": dict(part.fit.document)}
    else:
        inputs |= {"model": part.model}
    computed = await ctx.computer.run(Computation("evaluate.final_evaluation", params), inputs)
    evaluation = parse_facts(ModelEvaluation, computed.value)
    score = evaluation.score
    return CallResult(
        value={**json_object(computed), "model": model},
        summary=f"{model} on the hold-out: {evaluation.metric} {format_number(score.value)} "
        f"(95% {format_number(score.low)} to {format_number(score.high)}).",
        artifacts=figure_artifacts(computed, evaluation.figures),
    )
