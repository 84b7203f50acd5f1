"""Tools of the evaluator: compare candidates, blend them and evaluate one, without the hold-out."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from app.artifacts.workspace import FrameRef
from app.errors import ToolRefused
from app.modeling.problem.custom_code import contains_code
from app.modeling.problem.kinds import BASELINE, ENSEMBLE
from app.sandbox.computer import ComputationFailed
from app.sandbox.contract import Computation, Limits
from app.sessions.step_scope import ArtifactDraft, CallResult
from app.tools.clock import recorded_work_s
from app.tools.context import ToolContext
from app.tools.fit_parts import FitPart, load_parts, merge_parts
from app.tools.frames import figure_artifacts, find_training_frame
from app.tools.registry import tool
from app.tools.rounds import MAX_DETERMINISTIC_FIT_S, format_number, ignores_clock, time_left_s

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
    names = list(dict.fromkeys(part.facts["name"] for part in parts))
    params: dict[str, Any] = {
        "problem": dict(ctx.training.problem),
        "folds": parts[0].facts["folds"],
        "fits": [dict(part.facts) for part in parts],
        "seed": ctx.session.seed,
        "name": names[0] if len(names) == 1 else ENSEMBLE,
    }
    inputs: dict[str, str] = {}
    for place, part in enumerate(parts):
        inputs |= {f"model_{place}": part.model, f"oof_{place}": part.oof}
    computed = await ctx.computer.run(Computation("train.blend", params), inputs)
    facts: Any = computed.value
    weights = facts.get("weights") or {}
    weights_text = ", ".join(f"{name} {weight:.2g}" for name, weight in weights.items() if weight > 0)
    return CallResult(
        value={key: value for key, value in facts.items() if key != "schema"},
        summary=f"{facts['name']}: {facts['metric']} {format_number(facts['score'])}. Weights: {weights_text}."[
            :500
        ],
        artifacts=[_ensemble_artifact(computed, facts)],
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
        "problem": dict(ctx.training.problem),
        "fits": [_merge_facts(parts) for parts in candidates],
        "seed": ctx.session.seed,
    }
    computed = await ctx.computer.run(Computation("evaluate.compare_models", params), inputs)
    facts: Any = computed.value
    beats = {True: "beats", False: "does not beat", None: "was not compared with"}[facts["beats_baseline"]]
    return CallResult(
        value=facts,
        summary=f"{facts['reason']} It {beats} the baseline.",
        artifacts=figure_artifacts(computed, facts.get("figures", ())),
    )


@tool(agents=EVALUATOR)
async def evaluate_model(ctx: ToolContext, model: ModelName) -> CallResult:
    """Evaluate one candidate in detail on out-of-fold predictions: every metric with its interval, confusion,
    curves, calibration or residuals, and cautions."""
    part = (await load_parts(ctx, model))[0]
    raw = await find_training_frame(ctx, "train")
    params = {
        "problem": dict(ctx.training.problem),
        "fit": dict(part.facts),
        "folds": part.facts["folds"],
        "seed": ctx.session.seed,
    }
    inputs = {"frame": raw.digest, "oof": part.oof}
    computed = await ctx.computer.run(Computation("evaluate.evaluate_model", params), inputs)
    value: Any = {**computed.value, "model": model}  # type: ignore[dict-item]  # EvaluationFacts
    score = value["metrics"][value["metric"]]
    return CallResult(
        value=value,
        summary=f"{model}: {value['metric']} {format_number(score['value'])} "
        f"({format_number(score['low'])} to {format_number(score['high'])}) out of fold.",
        artifacts=figure_artifacts(computed, value["figures"]),
    )


@tool(agents=EVALUATOR)
async def feature_importance(
    ctx: ToolContext, model: ModelName, repeats: Annotated[int, Field(ge=2, le=30)] = 5
) -> CallResult:
    """Measure the loss of score when one raw column is shuffled (permutation importance, out of fold)."""
    facts = (await load_parts(ctx, model))[0].facts
    if "members" in facts:
        raise ToolRefused(f"{model} is an ensemble: choose one of {', '.join(facts['weights'])}.")
    raw = await find_training_frame(ctx, "train")
    params = {
        "problem": dict(ctx.training.problem),
        "estimator": facts["estimator"],
        "folds": facts["folds"],
        "recipe": facts["recipe"],
        "hyperparameters": facts["hyperparameters"],
        "seed": ctx.session.seed,
        "repeats": repeats,
    }
    limits = Limits(time_s=await time_left_s(ctx) + 20.0)
    computed = await ctx.computer.run(
        Computation("evaluate.feature_importance", params), {"frame": raw.digest}, limits
    )
    value: Any = {**computed.value, "model": model}  # type: ignore[dict-item]  # ImportanceFacts
    first = ", ".join(entry["column"] for entry in value["importances"][:3]) or "no column"
    return CallResult(
        value=value,
        summary=f"Most important columns of {model}: {first}.",
        artifacts=figure_artifacts(computed, value.get("figures", ())),
    )


@tool(agents=())
async def final_evaluation(ctx: ToolContext, model: ModelName) -> CallResult:
    """Open the hold-out, once, for the model that was chosen."""
    ref = await ctx.frames.artifact("model", model)
    raw = await find_training_frame(ctx, "train")
    holdout = await ctx.frames.artifact("holdout", "holdout")
    inputs = {"train": raw.digest, "holdout": holdout.digest}
    params: dict[str, Any] = {"seed": ctx.session.seed}
    if contains_code(ref.meta["fit"]):
        inputs |= {"answers": await predict_holdout_in_isolation(ctx, ref, holdout)}
        params |= {"fit": dict(ref.meta["fit"])}
    else:
        inputs |= {"model": ref.digest}
    computed = await ctx.computer.run(Computation("evaluate.final_evaluation", params), inputs)
    value: Any = {**computed.value, "model": model}  # type: ignore[dict-item]  # EvaluationFacts
    score = value["metrics"][value["metric"]]
    return CallResult(
        value=value,
        summary=f"{model} on the hold-out: {value['metric']} {format_number(score['value'])} "
        f"(95% {format_number(score['low'])} to {format_number(score['high'])}).",
        artifacts=figure_artifacts(computed, value["figures"]),
    )


@tool(agents=())
async def refit_model(ctx: ToolContext, model: ModelName) -> CallResult:
    """Refit the evaluated model on all rows, including the hold-out, for delivery.

    Nothing is selected afterwards, and the score remains that of the hold-out. Without time left, the evaluated
    model is delivered.
    """
    ref = await ctx.frames.artifact("model", model)
    left_s = None if ignores_clock(ctx) else ctx.training.deadline_s - await recorded_work_s(ctx.step, ctx.call)
    facts = ref.meta["fit"]
    if facts["estimator"] == BASELINE or (left_s is not None and left_s < MIN_REFIT_S):
        return CallResult(value={"rows": 0, "fits": 0, "fit_s": 0.0, "model": model}, summary=NO_REFIT_SUMMARY)
    raw = await find_training_frame(ctx, "train")
    holdout = await ctx.frames.artifact("holdout", "holdout")
    params: dict[str, Any] = {"fit": dict(facts), "seed": ctx.session.seed, "time_limit_s": left_s}
    limits = Limits(time_s=MAX_DETERMINISTIC_FIT_S if left_s is None else left_s + MAX_REFIT_OVERRUN_S)
    try:
        computed = await ctx.computer.run(
            Computation("train.refit", params), {"train": raw.digest, "holdout": holdout.digest}, limits
        )
    except ComputationFailed as failed:
        raise ToolRefused(f"{model} could not be refitted on all rows: {failed.detail}") from failed
    value: Any = {**computed.value, "model": model}  # type: ignore[dict-item]  # an object
    if not value["rows"]:
        return CallResult(value=value, summary=NO_REFIT_SUMMARY)
    name = f"{model} on all rows"
    file = computed.file("model.skops")
    meta = {"fit": {**facts, "learned_rows": value["rows"]}, "oof": ref.meta["oof"]}
    return CallResult(
        value={**value, "model": name},
        summary=f"{model} was refitted on all {value['rows']:,} rows.",
        artifacts=[ArtifactDraft("model", name, file.media_type, file.digest, file.size_bytes, meta)],
    )


async def predict_holdout_in_isolation(ctx: ToolContext, model: FrameRef, holdout: FrameRef) -> str:
    """Predict the hold-out by a model with custom code, in a cell without the labels; return a digest."""
    question_job = Computation("evaluate.questions_of_holdout", {"problem": dict(model.meta["fit"]["problem"])})
    questions = await ctx.computer.run(question_job, {"holdout": holdout.digest})
    inputs = {"questions": questions.file("questions.parquet").digest, "model": model.digest}
    answer_job = Computation("evaluate.answers_of_model", trusted=False)
    answers = await ctx.computer.run(answer_job, inputs)
    return answers.file("answers.parquet").digest


def _merge_facts(parts: Sequence[FitPart]) -> dict[str, Any]:
    return merge_parts([part.facts for part in parts])


def _ensemble_artifact(computed: Any, facts: Mapping[str, Any]) -> ArtifactDraft:
    model, oof = computed.file("model.skops"), computed.file("oof.parquet")
    meta = {"fit": dict(facts), "oof": oof.digest}
    return ArtifactDraft("model", facts["name"], model.media_type, model.digest, model.size_bytes, meta)
