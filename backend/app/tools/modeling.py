"""What trainer and evaluator can do: fit candidates, compare them, tune, explain. The hold-out stays shut."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from app.errors import ToolRefused
from app.sandbox.contract import Computation, Limits
from app.sessions.scope import ArtifactDraft, Fit, FitOutcome, Recorded
from app.tools.context import ToolContext
from app.tools.frames import figures, training
from app.tools.registry import FrameName, tool

TRAINER = ("model_trainer",)
EVALUATOR = ("model_evaluator",)

ModelName = Annotated[str, Field(description="Name of a fitted candidate.", max_length=200)]
LEFT_OUT_OF_ANSWERS = ("schema",)
QUICK = frozenset({"baseline", "LogisticRegression", "Ridge"})
HANDS = 2
"""Fits that even the smallest installation runs at a time."""


class Candidate(BaseModel):
    """An estimator to fit; hyperparameters override its defaults."""

    model_config = ConfigDict(extra="forbid")

    estimator: Annotated[str, Field(max_length=100)]
    hyperparameters: dict[str, Any] = Field(default_factory=dict)
    name: Annotated[str, Field(pattern=r"^[A-Za-z][\w.-]{0,79}$")] | None = None


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
        summary=f"{model}: {value['metric']} {_number(score['value'])} "
        f"({_number(score['low'])} to {_number(score['high'])}) out of fold.",
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
    budget_s = ctx.study.time_left_s
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
    limit_s = _share(ctx, [])
    fits = [_fit(ctx, raw.digest, folds, limit_s, **_spec(each)) for each in proposed["candidates"]]
    return await _outcomes(ctx, fits)


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
        summary=f"{model} on the hold-out: {value['metric']} {_number(score['value'])} "
        f"(95% {_number(score['low'])} to {_number(score['high'])}).",
        artifacts=figures(computed, value["figures"]),
    )


async def _train(ctx: ToolContext, kind: str, frame: str, candidates: Sequence[Candidate]) -> Recorded:
    wanted = ctx.study.problem["kind"]
    if wanted != kind:
        raise ToolRefused(f"The problem is {wanted}: call train_{wanted}_model.")
    return await _fit_round(ctx, frame, candidates, ctx.study.folds)


async def _fit_round(ctx: ToolContext, frame: str, candidates: Sequence[Candidate], folds: Any) -> Recorded:
    source = await training(ctx, frame)
    limit_s = _share(ctx, [candidate.estimator for candidate in candidates])
    fits = [
        _fit(
            ctx,
            source.digest,
            folds,
            limit_s,
            name=name,
            estimator=candidate.estimator,
            hyperparameters=candidate.hyperparameters,
            recipe=source.recipe,
        )
        for name, candidate in _named(candidates)
    ]
    return await _outcomes(ctx, fits)


def _named(candidates: Sequence[Candidate]) -> list[tuple[str, Candidate]]:
    """Every candidate under a name of its own: its own, its estimator's, or that with a number."""
    named: dict[str, Candidate] = {}
    for candidate in candidates:
        wanted = candidate.name or candidate.estimator
        name, place = wanted, 2
        while name in named:
            name, place = f"{wanted}-{place}", place + 1
        named[name] = candidate
    return list(named.items())


def _spec(proposed: dict[str, Any]) -> dict[str, Any]:
    return {key: proposed[key] for key in ("name", "estimator", "hyperparameters", "recipe")}


def _share(ctx: ToolContext, estimators: Sequence[str]) -> float:
    """Seconds that one candidate may take, when `HANDS` are fitted at a time and quick ones hardly count."""
    slow = sum(estimator not in QUICK for estimator in estimators)
    return max(3.0, ctx.study.time_left_s * HANDS / max(slow, HANDS))


def _fit(ctx: ToolContext, digest: str, folds: Any, limit_s: float, name: str, **spec: Any) -> Fit:
    params = {
        "problem": dict(ctx.study.problem),
        "folds": dict(folds),
        "name": name,
        "seed": ctx.session.seed,
        "time_limit_s": round(limit_s, 1),
        **spec,
    }
    # A fit keeps its own limit by doing less; the cell's is for one that cannot.
    return Fit(name, "train.fit_candidate", params, {"frame": digest}, Limits(time_s=limit_s * 1.5 + 10.0))


async def _outcomes(ctx: ToolContext, fits: Sequence[Fit]) -> Recorded:
    deadline_s = ctx.study.time_left_s * 1.5 + 45.0
    outcomes = await ctx.step.fan_out(ctx.call, fits, deadline_s)
    done = [outcome for outcome in outcomes if outcome.status == "done"]
    if not done:
        raise ToolRefused("Not one candidate was fitted. " + " ".join(_why(outcome) for outcome in outcomes))
    facts = [_answered(outcome) for outcome in done]
    left_out = [{"name": o.name, "reason": _why(o)} for o in outcomes if o.status != "done"]
    scores = ", ".join(f"{fit['name']} {_number(fit['score'])}" for fit in facts)
    missing = f" Left out: {', '.join(entry['name'] for entry in left_out)}." if left_out else ""
    value: Any = {"fits": facts, "left_out": left_out}
    return Recorded(
        value=value,
        summary=f"{facts[0]['metric']}: {scores}.{missing}"[:500],
        artifacts=[_model_artifact(outcome) for outcome in done],
        usage={"fit_s": round(sum(outcome.wall_s for outcome in done), 3)},
    )


def _answered(outcome: FitOutcome) -> dict[str, Any]:
    facts: Any = outcome.value
    return {key: value for key, value in facts.items() if key not in LEFT_OUT_OF_ANSWERS}


def _model_artifact(outcome: FitOutcome) -> ArtifactDraft:
    file = outcome.files["model.skops"]
    meta = {"fit": outcome.value, "oof": outcome.files["oof.parquet"]["digest"]}
    return ArtifactDraft(
        "model", outcome.name, file["media_type"], file["digest"], int(file["size_bytes"]), meta
    )


def _why(outcome: FitOutcome) -> str:
    return outcome.reason or f"{outcome.name} did not come in time."


async def _fit_facts(ctx: ToolContext, model: str) -> dict[str, Any]:
    """A candidate's `FitFacts`; raises ToolRefused naming the nearest."""
    facts: dict[str, Any] = dict((await ctx.frames.artifact("model", model)).meta["fit"])
    return facts


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"
