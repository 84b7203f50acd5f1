"""Tools of the evaluator: compare candidates, blend them and evaluate one.

Called by no agent, after the choice: evaluate on the hold-out, and refit on all rows.
"""

from typing import Annotated, Any

from pydantic import Field

from app.artifacts.workspace import FrameRef
from app.errors import ToolRefused
from app.modeling.problem.facts import parse_facts
from app.modeling.problem.fits import CandidateFit, merge_parts
from app.modeling.problem.kinds import BASELINE, ENSEMBLE
from app.sandbox.computer import ComputationFailed, ComputationResult
from app.sandbox.contract import Computation, Limits
from app.sessions.step_scope import ArtifactDraft, CallResult
from app.tools.clock import recorded_work_s
from app.tools.computed_facts import (
    ColumnImportances,
    ModelComparison,
    ModelEvaluation,
    RefitOutcome,
    json_object,
)
from app.tools.context import ToolContext
from app.tools.fit_parts import FitPart, load_model, load_parts
from app.tools.frames import figure_artifacts, find_training_frame
from app.tools.registry import tool
from app.tools.rounds import MAX_DETERMINISTIC_FIT_S, format_number, ignores_clock, time_left_s, without_schema

EVALUATOR = ("model_evaluator",)
MIN_REFIT_S, MAX_REFIT_OVERRUN_S = 0.8, 0.2
"""Least time left in seconds to start a refit, and the seconds by which it may exceed it."""
NO_REFIT_SUMMARY = "There was no time to refit on all rows."

ModelName = Annotated[str, Field(description="Name of a fitted candidate.", max_length=200)]
ModelNames = Annotated[list[ModelName], Field(min_length=1, max_length=60)]


@tool(agents=EVALUATOR)
async def build_ensemble(ctx: ToolContext, models: ModelNames) -> CallResult:
    """Blend candidates into one model with weights from out-of-fold predictions; those that do not help get no
    weight. Only folds that all of them were fitted on count. Makes the model `Ensemble`.

    With a single candidate all its folds become one model under its own name.
    """
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
    computed = await ctx.computer.run(Computation("train.blend", params), inputs)
    fit = CandidateFit.from_json(json_object(computed))
    weights = (fit.weights or {}).items()
    weights_text = ", ".join(f"{name} {weight:.2g}" for name, weight in weights if weight > 0)
    summary = f"{fit.name}: {fit.metric} {format_number(fit.score)}. Weights: {weights_text}."
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
    params: dict[str, Any] = {
        "problem": ctx.training.problem.to_json(),
        "fits": [merge_parts([part.fit for part in parts]).to_json() for parts in candidates],
        "seed": ctx.session.seed,
    }
    computed = await ctx.computer.run(Computation("evaluate.compare_models", params), inputs)
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
    curves, calibration or residuals, and cautions."""
    part = (await load_parts(ctx, model))[0]
    raw = await find_training_frame(ctx, "train")
    params: dict[str, Any] = {
        "problem": ctx.training.problem.to_json(),
        "fit": dict(part.fit.document),
        "folds": part.fit.folds.to_json(),
        "seed": ctx.session.seed,
    }
    inputs = {"frame": raw.digest, "oof": part.oof}
    computed = await ctx.computer.run(Computation("evaluate.evaluate_model", params), inputs)
    evaluation = parse_facts(ModelEvaluation, computed.value)
    score = evaluation.score
    return CallResult(
        value={**json_object(computed), "model": model},
        summary=f"{model}: {evaluation.metric} {format_number(score.value)} "
        f"({format_number(score.low)} to {format_number(score.high)}) out of fold.",
        artifacts=figure_artifacts(computed, evaluation.figures),
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
        Computation("evaluate.feature_importance", params), {"frame": raw.digest}, limits
    )
    importances = parse_facts(ColumnImportances, computed.value)
    first = ", ".join(importance.column for importance in importances.importances[:3]) or "no column"
    return CallResult(
        value={**json_object(computed), "model": model},
        summary=f"Most important columns of {model}: {first}.",
        artifacts=figure_artifacts(computed, importances.figures),
    )


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


@tool(agents=())
async def refit_model(ctx: ToolContext, model: ModelName) -> CallResult:
    """Refit the evaluated model on all rows, including the hold-out, for delivery.

    Nothing is selected afterwards, and the score remains that of the hold-out. Without time left, the evaluated
    model is delivered.
    """
    part = await load_model(ctx, model)
    left_s = None if ignores_clock(ctx) else ctx.training.deadline_s - await recorded_work_s(ctx.step, ctx.call)
    if part.fit.estimator == BASELINE or (left_s is not None and left_s < MIN_REFIT_S):
        return CallResult(value={"rows": 0, "fits": 0, "fit_s": 0.0, "model": model}, summary=NO_REFIT_SUMMARY)
    raw = await find_training_frame(ctx, "train")
    holdout = await ctx.frames.artifact("holdout", "holdout")
    params: dict[str, Any] = {
        "fit": dict(part.fit.document),
        "seed": ctx.session.seed,
        "time_limit_s": left_s,
    }
    limits = Limits(time_s=MAX_DETERMINISTIC_FIT_S if left_s is None else left_s + MAX_REFIT_OVERRUN_S)
    try:
        computed = await ctx.computer.run(
            Computation("train.refit", params), {"train": raw.digest, "holdout": holdout.digest}, limits
        )
    except ComputationFailed as failed:
        raise ToolRefused(f"{model} could not be refitted on all rows: {failed.detail}") from failed
    rows = parse_facts(RefitOutcome, computed.value).rows
    if not rows:
        return CallResult(value={**json_object(computed), "model": model}, summary=NO_REFIT_SUMMARY)
    name = f"{model} on all rows"
    file = computed.file("model.skops")
    meta = {"fit": {**part.fit.document, "learned_rows": rows}, "oof": part.oof}
    return CallResult(
        value={**json_object(computed), "model": name},
        summary=f"{model} was refitted on all {rows:,} rows.",
        artifacts=[ArtifactDraft("model", name, file.media_type, file.digest, file.size_bytes, meta)],
    )


async def predict_holdout_in_isolation(ctx: ToolContext, model: FitPart, holdout: FrameRef) -> str:
    """Predict the hold-out by a model with custom code, in a cell without the labels; return a digest."""
    question_job = Computation("evaluate.questions_of_holdout", {"problem": dict(model.fit.problem)})
    questions = await ctx.computer.run(question_job, {"holdout": holdout.digest})
    inputs = {"questions": questions.file("questions.parquet").digest, "model": model.model}
    answer_job = Computation("evaluate.answers_of_model", trusted=False)
    answers = await ctx.computer.run(answer_job, inputs)
    return answers.file("answers.parquet").digest


def _ensemble_artifact(computed: ComputationResult, fit: CandidateFit) -> ArtifactDraft:
    model, oof = computed.file("model.skops"), computed.file("oof.parquet")
    meta = {"fit": dict(fit.document), "oof": oof.digest}
    return ArtifactDraft("model", fit.name, model.media_type, model.digest, model.size_bytes, meta)
