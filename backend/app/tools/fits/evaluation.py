"""Tools of the evaluator: compare candidates, blend them and evaluate one."""

from typing import Annotated, Any

from pydantic import Field

from app.errors import ToolRefused
from app.modeling.facts.conversion import parse_facts
from app.modeling.facts.fits import CandidateFit, merge_parts
from app.modeling.problem.kinds import ENSEMBLE
from app.reporting.metrics import describe_metric
from app.sandbox.computation_runner import ComputationResult
from app.sandbox.exchange.contract import Computation, Limits
from app.sessions.step_scope import ArtifactDraft, CallResult
from app.tools.context.stage_limits import DRAWING_SHARE, remaining_s, share_of
from app.tools.context.tool_context import ToolContext
from app.tools.data.computed_facts import (
    ColumnImportances,
    ModelComparison,
    ModelEvaluation,
    json_object,
)
from app.tools.data.frames import figure_artifacts, find_training_frame, make_artifact
from app.tools.fits.fit_parts import load_parts
from app.tools.fits.fit_rounds import (
    describe_score,
    format_number,
    time_left_s,
    without_schema,
)
from app.tools.registry import tool

EVALUATOR = ("model_evaluator",)
ERRORS_FRAME = "errors"
"""Name of the frame with out-of-fold errors. It has no recipe, so nothing can be trained on it."""

ModelName = Annotated[str, Field(description="Name of a fitted candidate.", max_length=200)]
ModelNames = Annotated[list[ModelName], Field(min_length=1, max_length=60)]


@tool(agents=EVALUATOR)
async def build_ensemble(ctx: ToolContext, models: ModelNames) -> CallResult:
    """Blend candidates into one model with weights from out-of-fold predictions; those that do not help get no
    weight. Only folds that all of them were fitted on count. Makes the model `Ensemble`.

    With a single candidate all its folds become one model under its own name.
    """
    if ctx.training.is_single_model and len(set(models)) > 1:
        raise ToolRefused("The user wants a single model: name one candidate, whose folds become one model.")
    # Each once: a model that is named twice would count twice in the blend.
    parts = [part for model in dict.fromkeys(models) for part in await load_parts(ctx, model)]
    names = list(dict.fromkeys(part.fit.name for part in parts))
    params: dict[str, Any] = {
        "problem": ctx.training.problem.to_json(),
        "folds": parts[0].fit.folds.to_json(),
        "fits": [dict(part.fit.document) for part in parts],
        "seed": ctx.session.seed,
        "name": names[0] if len(names) == 1 else ENSEMBLE,
    }
    inputs: dict[str, str] = {}
    for place, part in enumerate(parts):
        inputs |= {f"model_{place}": part.model, f"oof_{place}": part.oof}
    computed = await ctx.computer.run(Computation("models.train.blend", params), inputs)
    fit = CandidateFit.from_json(json_object(computed))
    weights = (fit.weights or {}).items()
    weights_text = ", ".join(f"{name} {weight:.2g}" for name, weight in weights if weight > 0)
    summary = (
        f"{fit.name}: {describe_metric(fit.metric).label} {format_number(fit.score)}. Weights: {weights_text}."
    )
    return CallResult(
        value=without_schema(json_object(computed)),
        summary=summary[:500],
        artifacts=[_ensemble_artifact(computed, fit)],
    )


@tool(agents=EVALUATOR)
async def compare_models(ctx: ToolContext, models: ModelNames) -> CallResult:
    """Rank candidates by their out-of-fold score, with the significance of the differences.

    Recommends one and reports whether it beats the baseline.
    """
    candidates = [await load_parts(ctx, model) for model in dict.fromkeys(models)]
    inputs = {
        f"oof_{place}_{number}": part.oof
        for place, parts in enumerate(candidates)
        for number, part in enumerate(parts)
    }
    # Rows of one entity or period err alike, which only the table tells.
    inputs["frame"] = (await find_training_frame(ctx, "train")).digest
    params: dict[str, Any] = {
        "problem": ctx.training.problem.to_json(),
        # A candidate whose folds were fitted in several calls is compared as one.
        "fits": [merge_parts([part.fit for part in parts]).to_json() for parts in candidates],
        "seed": ctx.session.seed,
        "draw_s": share_of(await remaining_s(ctx), DRAWING_SHARE),
    }
    computed = await ctx.computer.run(Computation("models.evaluate.compare_models", params), inputs)
    comparison = parse_facts(ModelComparison, computed.value)
    beats = {True: "beats", False: "does not beat", None: "was not compared with"}[comparison.beats_baseline]
    return CallResult(
        value=computed.value,
        summary=f"{comparison.reason} It {beats} the baseline.",
        artifacts=figure_artifacts(computed, comparison.figures),
    )


@tool(agents=EVALUATOR)
async def evaluate_model(ctx: ToolContext, model: ModelName) -> CallResult:
    """Evaluate one candidate in detail on out-of-fold predictions: every metric with its interval, confusion,
    curves, calibration or residuals, cautions, and the slices of rows with the largest errors.

    The frame `errors` then holds each training row with its truth, out-of-fold output and error, for
    `run_python`.
    """
    parts = await load_parts(ctx, model)
    # A candidate whose folds were fitted in several calls is judged on all of them.
    fit = merge_parts([part.fit for part in parts])
    raw = await find_training_frame(ctx, "train")
    params: dict[str, Any] = {
        "problem": ctx.training.problem.to_json(),
        "fit": fit.to_json(),
        "folds": fit.folds.to_json(),
        "seed": ctx.session.seed,
        "draw_s": share_of(await remaining_s(ctx), DRAWING_SHARE),
    }
    inputs = {"frame": raw.digest, **{f"oof_0_{number}": part.oof for number, part in enumerate(parts)}}
    computed = await ctx.computer.run(Computation("models.evaluate.evaluate_model", params), inputs)
    evaluation = parse_facts(ModelEvaluation, computed.value)
    measured = evaluation.score
    score = describe_score(evaluation.metric, measured.value, measured.low, measured.high)
    return CallResult(
        value={**json_object(computed), "model": model, "errors_frame": ERRORS_FRAME},
        summary=f"{model}: {score} out of fold.",
        artifacts=[
            *figure_artifacts(computed, evaluation.figures),
            make_artifact(computed.file("errors.parquet"), "frame", ERRORS_FRAME, {"model": model}),
        ],
    )


@tool(agents=EVALUATOR)
async def feature_importance(
    ctx: ToolContext, model: ModelName, repeats: Annotated[int, Field(ge=2, le=30)] = 5
) -> CallResult:
    """Measure the loss of score when one raw column is shuffled (permutation importance, out of fold)."""
    fit = (await load_parts(ctx, model))[0].fit
    if fit.is_ensemble:
        raise ToolRefused(f"{model} is an ensemble: choose one of {', '.join(fit.weights or ())}.")
    raw = await find_training_frame(ctx, "train")
    params: dict[str, Any] = {
        "problem": ctx.training.problem.to_json(),
        "estimator": fit.estimator,
        "folds": fit.folds.to_json(),
        "recipe": fit.recipe,
        "hyperparameters": dict(fit.hyperparameters),
        "seed": ctx.session.seed,
        "repeats": repeats,
    }
    limits = Limits(time_s=await time_left_s(ctx) + 20.0)
    computed = await ctx.computer.run(
        Computation("models.evaluate.feature_importance", params), {"frame": raw.digest}, limits
    )
    importances = parse_facts(ColumnImportances, computed.value)
    helpful = [importance.column for importance in importances.importances if importance.helps]
    significant = ", ".join(helpful[:3]) or "none"
    return CallResult(
        value={**json_object(computed), "model": model},
        summary=f"Columns of {model} with a significant importance: {significant}.",
        artifacts=figure_artifacts(computed, importances.figures),
    )


def _ensemble_artifact(computed: ComputationResult, fit: CandidateFit) -> ArtifactDraft:
    model, oof = computed.file("model.skops"), computed.file("oof.parquet")
    meta = {"fit": dict(fit.document), "oof": oof.digest}
    return ArtifactDraft("model", fit.name, model.media_type, model.digest, model.size_bytes, meta)
