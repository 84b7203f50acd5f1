"""What trainer and evaluator can do: fit candidates, compare them, tune, explain. The hold-out stays shut."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from app.errors import ToolRefused
from app.sandbox.contract import Computation, Limits
from app.sessions.scope import Recorded
from app.tools.context import ToolContext
from app.tools.frames import figures, training
from app.tools.registry import FrameName, tool
from app.tools.rounds import GENEROUS_S, Candidate, fit_of, fitted, ignores_clock, named, number, share, spec_of

TRAINER = ("model_trainer",)
EVALUATOR = ("model_evaluator",)

ModelName = Annotated[str, Field(description="Name of a fitted candidate.", max_length=200)]
Candidates = Annotated[list[Candidate], Field(min_length=1, max_length=24)]


@tool(agents=TRAINER)
async def train_classification_model(ctx: ToolContext, frame: FrameName, candidates: Candidates) -> Recorded:
    """Fit classifiers on a frame, each judged by cross-validation, all at the same time.

    Estimators: baseline, LogisticRegression, RandomForest, ExtraTrees, GradientBoosting, XGBoost.
    A candidate that fails or does not come in time is left out and said so.
    """
    return await _train(ctx, "classification", frame, candidates)


@tool(agents=TRAINER)
async def train_regression_model(ctx: ToolContext, frame: FrameName, candidates: Candidates) -> Recorded:
    """Fit regressors on a frame, each judged by cross-validation, all at the same time.

    Estimators: baseline, Ridge, RandomForest, ExtraTrees, GradientBoosting, XGBoost.
    A candidate that fails or does not come in time is left out and said so.
    """
    return await _train(ctx, "regression", frame, candidates)


@tool(agents=TRAINER)
async def cross_validate_model(
    ctx: ToolContext,
    frame: FrameName,
    candidate: Candidate,
    folds: Annotated[int, Field(ge=2, le=20)] = 5,
) -> Recorded:
    """Judge one candidate by cross-validation with another number of folds."""
    return await _fit_round(ctx, frame, [candidate], {**ctx.study.folds, "count": folds})


@tool(agents=EVALUATOR)
async def compare_models(
    ctx: ToolContext, models: Annotated[list[ModelName], Field(min_length=1, max_length=60)]
) -> Recorded:
    """Order candidates by their cross-validated score, with the differences that folds can tell apart.

    Says which one to choose and whether it beats the baseline.
    """
    given: dict[str, Any] = {"fits": [await _fit_facts(ctx, model) for model in dict.fromkeys(models)]}
    computed = await ctx.computer.run(Computation("evaluate.compare_models", given), {})
    facts: Any = computed.value
    beats = {True: "beats", False: "does not beat", None: "was not compared with"}[facts["beats_baseline"]]
    return Recorded(
        value=facts,
        summary=f"{facts['reason']} It {beats} the baseline.",
        artifacts=figures(computed, facts.get("figures", ())),
    )


@tool(agents=EVALUATOR)
async def evaluate_model(ctx: ToolContext, model: ModelName) -> Recorded:
    """Judge one candidate in detail on rows that did not teach it: every metric with its interval, confusion,
    curves, calibration or residuals, and what to be careful about."""
    ref = await ctx.frames.artifact("model", model)
    facts = await _fit_facts(ctx, model)
    raw = await training(ctx, "train")
    params = {
        "problem": dict(ctx.study.problem),
        "fit": facts,
        "folds": facts["folds"],
        "seed": ctx.session.seed,
    }
    inputs = {"frame": raw.digest, "oof": str(ref.meta["oof"])}
    computed = await ctx.computer.run(Computation("evaluate.evaluate_model", params), inputs)
    value: Any = {**computed.value, "model": model}  # type: ignore[dict-item]  # EvaluationFacts
    score = value["metrics"][value["metric"]]
    return Recorded(
        value=value,
        summary=f"{model}: {value['metric']} {number(score['value'])} "
        f"({number(score['low'])} to {number(score['high'])}) out of fold.",
        artifacts=figures(computed, value["figures"]),
    )


@tool(agents=EVALUATOR)
async def feature_importance(
    ctx: ToolContext, model: ModelName, repeats: Annotated[int, Field(ge=2, le=30)] = 5
) -> Recorded:
    """How much the score suffers when one raw column is shuffled (permutation importance, out of fold)."""
    facts = await _fit_facts(ctx, model)
    raw = await training(ctx, "train")
    params = {
        "problem": dict(ctx.study.problem),
        "estimator": facts["estimator"],
        "folds": facts["folds"],
        "recipe": facts["recipe"],
        "hyperparameters": facts["hyperparameters"],
        "seed": ctx.session.seed,
        "repeats": repeats,
    }
    limits = Limits(time_s=max(10.0, ctx.study.time_left_s + 20.0))
    computed = await ctx.computer.run(
        Computation("evaluate.feature_importance", params), {"frame": raw.digest}, limits
    )
    value: Any = {**computed.value, "model": model}  # type: ignore[dict-item]  # ImportanceFacts
    first = ", ".join(entry["column"] for entry in value["importances"][:3]) or "no column"
    return Recorded(
        value=value,
        summary=f"{model} leans most on {first}.",
        artifacts=figures(computed, value.get("figures", ())),
    )


@tool(agents=EVALUATOR)
async def tune_hyperparameters(
    ctx: ToolContext,
    models: Annotated[list[ModelName], Field(min_length=1, max_length=60)],
    param_grid: dict[str, Annotated[list[Any], Field(min_length=1, max_length=50)]] | None = None,
    cv: Annotated[int, Field(ge=2, le=20)] | None = None,
    most: Annotated[int, Field(ge=1, le=24)] = 12,
) -> Recorded:
    """One round of tuning, starting from the best of these candidates: new hyperparameters are drawn from
    `param_grid` (or from each estimator's own space) as many as the time left allows, and fitted."""
    facts = [await _fit_facts(ctx, model) for model in dict.fromkeys(models)]
    budget_s = GENEROUS_S * most if ignores_clock(ctx) else ctx.study.time_left_s
    params: dict[str, Any] = {
        "fits": facts,
        "budget_s": budget_s,
        "seed": ctx.session.seed,
        "most": most,
        "param_grid": param_grid,
    }
    computed = await ctx.computer.run(Computation("train.propose_candidates", params), {})
    proposed: Any = computed.value
    if not proposed["candidates"]:
        raise ToolRefused(f"Not one more fit would be done in the {budget_s:.0f} s that are left.")
    folds = facts[0]["folds"] if cv is None else {**facts[0]["folds"], "count": cv}
    raw = await training(ctx, "train")
    limit_s = share(ctx, [])
    fits = [fit_of(ctx, raw.digest, folds, limit_s, **spec_of(each)) for each in proposed["candidates"]]
    return await fitted(ctx, fits)


@tool(agents=())
async def final_evaluation(ctx: ToolContext, model: ModelName) -> Recorded:
    """Open the hold-out, once, for the model that was chosen."""
    ref = await ctx.frames.artifact("model", model)
    raw = await training(ctx, "train")
    holdout = await ctx.frames.artifact("holdout", "holdout")
    computed = await ctx.computer.run(
        Computation("evaluate.final_evaluation", {"seed": ctx.session.seed}),
        {"train": raw.digest, "holdout": holdout.digest, "model": ref.digest},
    )
    value: Any = {**computed.value, "model": model}  # type: ignore[dict-item]  # EvaluationFacts
    score = value["metrics"][value["metric"]]
    return Recorded(
        value=value,
        summary=f"{model} on the hold-out: {value['metric']} {number(score['value'])} "
        f"(95% {number(score['low'])} to {number(score['high'])}).",
        artifacts=figures(computed, value["figures"]),
    )


async def _train(ctx: ToolContext, kind: str, frame: str, candidates: Sequence[Candidate]) -> Recorded:
    wanted = ctx.study.problem["kind"]
    if wanted != kind:
        raise ToolRefused(f"The problem is {wanted}: call train_{wanted}_model.")
    return await _fit_round(ctx, frame, candidates, ctx.study.folds)


async def _fit_round(ctx: ToolContext, frame: str, candidates: Sequence[Candidate], folds: Any) -> Recorded:
    source = await training(ctx, frame)
    limit_s = share(ctx, [candidate.estimator for candidate in candidates])
    fits = [
        fit_of(
            ctx,
            source.digest,
            folds,
            limit_s,
            name=name,
            estimator=candidate.estimator,
            hyperparameters=candidate.hyperparameters,
            recipe=source.recipe,
        )
        for name, candidate in named(candidates)
    ]
    return await fitted(ctx, fits)


async def _fit_facts(ctx: ToolContext, model: str) -> dict[str, Any]:
    """A candidate's `FitFacts`; raises ToolRefused naming the nearest."""
    facts: dict[str, Any] = dict((await ctx.frames.artifact("model", model)).meta["fit"])
    return facts
