"""A round of fits: candidates under names of their own, a share of the time for each, and what came of them."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from app.errors import ToolRefused
from app.sandbox.contract import Limits
from app.sessions.scope import ArtifactDraft, Fit, FitOutcome, Recorded
from app.tools.context import ToolContext

LEFT_OUT_OF_ANSWERS = ("schema",)
QUICK = frozenset({"baseline", "LogisticRegression", "Ridge"})
GENEROUS_S = 600.0
HANDS = 2
"""Fits that even the smallest installation runs at a time."""


class Candidate(BaseModel):
    """An estimator to fit; hyperparameters override its defaults."""

    model_config = ConfigDict(extra="forbid")

    estimator: Annotated[str, Field(max_length=100)]
    hyperparameters: dict[str, Any] = Field(default_factory=dict)
    name: Annotated[str, Field(pattern=r"^[A-Za-z][\w.-]{0,79}$")] | None = None


def named(candidates: Sequence[Candidate]) -> list[tuple[str, Candidate]]:
    """Every candidate under a name of its own: its own, its estimator's, or that with a number."""
    named: dict[str, Candidate] = {}
    for candidate in candidates:
        wanted = candidate.name or candidate.estimator
        name, place = wanted, 2
        while name in named:
            name, place = f"{wanted}-{place}", place + 1
        named[name] = candidate
    return list(named.items())


def spec_of(proposed: dict[str, Any]) -> dict[str, Any]:
    return {key: proposed[key] for key in ("name", "estimator", "hyperparameters", "recipe")}


def ignores_clock(ctx: ToolContext) -> bool:
    """A deterministic session chooses by counts, so a slow machine may not change what it tries."""
    return bool(ctx.session.preferences.get("deterministic"))


def share(ctx: ToolContext, estimators: Sequence[str]) -> float:
    """Seconds that one candidate may take, when `HANDS` are fitted at a time and quick ones hardly count."""
    if ignores_clock(ctx):
        return GENEROUS_S
    slow = sum(estimator not in QUICK for estimator in estimators)
    return max(3.0, ctx.study.time_left_s * HANDS / max(slow, HANDS))


def fit_of(ctx: ToolContext, digest: str, folds: Any, limit_s: float, name: str, **spec: Any) -> Fit:
    params = {
        "problem": dict(ctx.study.problem),
        "folds": dict(folds),
        "name": name,
        "seed": ctx.session.seed,
        "time_limit_s": None if ignores_clock(ctx) else round(limit_s, 1),
        **spec,
    }
    # A fit keeps its own limit by doing less; the cell's is for one that cannot.
    return Fit(name, "train.fit_candidate", params, {"frame": digest}, Limits(time_s=limit_s * 1.5 + 10.0))


async def fitted(ctx: ToolContext, fits: Sequence[Fit]) -> Recorded:
    time_s = GENEROUS_S * len(fits) if ignores_clock(ctx) else ctx.study.time_left_s
    deadline_s = time_s * 1.5 + 45.0
    outcomes = await ctx.step.fan_out(ctx.call, fits, deadline_s)
    done = [outcome for outcome in outcomes if outcome.status == "done"]
    if not done:
        raise ToolRefused("Not one candidate was fitted. " + " ".join(_why(outcome) for outcome in outcomes))
    facts = [_answered(outcome) for outcome in done]
    left_out = [{"name": o.name, "reason": _why(o)} for o in outcomes if o.status != "done"]
    scores = ", ".join(f"{fit['name']} {number(fit['score'])}" for fit in facts)
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


def number(value: float | None) -> str:
    if value is None:
        return "none"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
