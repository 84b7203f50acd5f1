"""Evaluation of the chosen model on the hold-out, once. No agent calls it."""

from typing import Any

from app.modeling.facts.conversion import parse_facts
from app.sandbox.computation_runner import ComputationResult
from app.sandbox.exchange.contract import Computation
from app.sessions.step_scope import ArtifactDraft, CallResult
from app.tools.context.stage_limits import FINAL_DRAWING_SHARE, remaining_s, share_of
from app.tools.context.tool_context import ToolContext
from app.tools.data.computed_facts import ModelEvaluation, json_object
from app.tools.data.frames import figure_artifacts, find_training_frame, make_artifact
from app.tools.finalization.holdout_outputs import OUTPUTS
from app.tools.finalization.isolated_predictions import predict_holdout_in_isolation
from app.tools.fits.evaluation import ModelName
from app.tools.fits.fit_parts import FitPart, load_model
from app.tools.fits.fit_rounds import (
    describe_score,
)
from app.tools.registry import tool


@tool(agents=())
async def final_evaluation(
    ctx: ToolContext, model: ModelName, references: list[dict[str, str]] | None = None
) -> CallResult:
    """Open the hold-out, once, for the model that was chosen.

    `references`: `ColumnReference`s, predictions by one column that it is compared with.
    """
    part = await load_model(ctx, model)
    raw = await find_training_frame(ctx, "train")
    holdout = await ctx.frames.artifact("holdout", "holdout")
    inputs = {"train": raw.digest, "holdout": holdout.digest}
    draw_s = share_of(await remaining_s(ctx), FINAL_DRAWING_SHARE)
    params: dict[str, Any] = {"seed": ctx.session.seed, "draw_s": draw_s}
    # Counted, since each further look at the same rows makes a good score by chance likelier.
    if ctx.holdout_look is not None:
        params |= {"look": dict(ctx.holdout_look)}
    if references:
        params |= {"references": references}
    # Code of agents never runs beside the labels: a cell without them predicts, and this one scores.
    if part.contains_code:
        inputs |= {"answers": await predict_holdout_in_isolation(ctx, part, holdout)}
        params |= {"fit": dict(part.fit.document)}
    else:
        inputs |= {"model": part.model}
    computed = await ctx.computer.run(Computation("models.evaluate.final_evaluation", params), inputs)
    evaluation = parse_facts(ModelEvaluation, computed.value)
    measured = evaluation.score
    score = describe_score(evaluation.metric, measured.value, measured.low, measured.high)
    return CallResult(
        value={**json_object(computed), "model": model},
        summary=f"{model} on the hold-out: {score}.",
        artifacts=[_outputs_artifact(computed, part), *figure_artifacts(computed, evaluation.figures)],
    )


def _outputs_artifact(computed: ComputationResult, part: FitPart) -> ArtifactDraft:
    """Return the outputs by row, with what a comparison interprets them by."""
    meta = {"problem": dict(part.fit.problem), "threshold": part.fit.threshold}
    return make_artifact(computed.file(f"{OUTPUTS}.parquet"), "holdout", OUTPUTS, meta)
