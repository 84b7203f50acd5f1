"""A round of fits: unique names, time limits, order of jobs, and results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from app.errors import ToolRefused
from app.modeling.facts.conversion import parse_facts
from app.modeling.facts.fits import CandidateFit
from app.modeling.problem.family_catalog import FAMILIES, PLAIN_FAMILY
from app.modeling.problem.folds import FoldPlan
from app.modeling.problem.kinds import BASELINE, REFERENCES
from app.reporting.metrics import describe_metric
from app.sandbox.exchange.contract import Limits
from app.sessions.step_scope import ArtifactDraft, CallResult, Fit, FitOutcome
from app.tools.context.recorded_clock import recorded_work_s
from app.tools.context.tool_context import ToolContext
from app.tools.fits.fit_parts import PART_KIND

SCHEMA_KEY = "schema"
FIXED_FIT_COST = 0.7
"""Fixed cost of a fit (I/O and encoding), relative to training the first family."""
RELATIVE_COSTS = {BASELINE: 0.1} | {
    family.name: FIXED_FIT_COST + family.relative_cost for family in (*FAMILIES, PLAIN_FAMILY)
}
MIN_SHARE_S = 0.5
"""Least seconds of a fit: below, reading the frame takes all of it."""
MAX_DETERMINISTIC_FIT_S = 600.0
"""Seconds of a fit in a deterministic session, where counts decide: this only stops one that hangs."""
MIN_ROUND_S = 1.5
"""Least seconds of a round, so that a session without time left still gets a model."""
MAX_OVERRUN_FACTOR, MAX_OVERRUN_S = 1.25, 2.5
"""Factor and seconds by which a round may exceed its plan before unfinished fits are left out."""
MAX_LATE_ROUND_S = 60.0
"""Seconds of a second attempt if the first round gave no model but the baseline, since a session needs one."""


class Candidate(BaseModel):
    """An estimator to fit; hyperparameters override its defaults."""

    model_config = ConfigDict(extra="forbid")

    estimator: Annotated[str, Field(max_length=100)]
    hyperparameters: dict[str, Any] = Field(default_factory=dict)
    name: Annotated[str, Field(pattern=r"^[A-Za-z][\w.-]{0,79}$")] | None = None


def name_candidates(candidates: Sequence[Candidate]) -> list[tuple[str, Candidate]]:
    """Give every candidate a unique name: its own or its estimator's, numbered if taken."""
    by_name: dict[str, Candidate] = {}
    for candidate in candidates:
        by_name[free_name(candidate.name or candidate.estimator, by_name)] = candidate
    return list(by_name.items())


def free_name(preferred: str, used_names: Sequence[str] | dict[str, Any]) -> str:
    """Return the name, with the first free number if it is taken."""
    name, place = preferred, 2
    while name in used_names:
        name, place = f"{preferred}-{place}", place + 1
    return name


def ignores_clock(ctx: ToolContext) -> bool:
    """True for a deterministic session: it is limited by counts, so a slow machine gives equal results."""
    return bool(ctx.preferences.deterministic)


async def time_left_s(ctx: ToolContext) -> float:
    """Return the seconds left for the next round, by a recorded reading of the clock."""
    if ignores_clock(ctx):
        return MAX_DETERMINISTIC_FIT_S
    worked_s = ctx.thinking.working_s(await recorded_work_s(ctx.step, ctx.call))
    return max(MIN_ROUND_S, ctx.training.deadline_s - worked_s)


def time_shares_s(ctx: ToolContext, left_s: float, estimators: Sequence[str]) -> list[float]:
    """Return the time limit of each fit in seconds, in proportion to the cost of its family."""
    if ignores_clock(ctx):
        return [MAX_DETERMINISTIC_FIT_S] * len(estimators)
    costs = [RELATIVE_COSTS.get(estimator, 1.0) for estimator in estimators]
    # Slots work side by side, so together they have that many times the seconds.
    unit_s = left_s * ctx.training.fit_slots / sum(costs)
    return [min(left_s, max(unit_s * cost, MIN_SHARE_S)) for cost in costs]


def make_fit(ctx: ToolContext, digest: str, folds: FoldPlan, limit_s: float, name: str, **spec: Any) -> Fit:
    """Make the job of a candidate on the training frame `digest`, to be fitted within `limit_s` seconds.

    `spec`: further parameters of `models.train.fit_candidate`, such as the estimator.
    """
    params = {
        "problem": ctx.training.problem.to_json(),
        "folds": folds.to_json(),
        "name": name,
        "seed": ctx.session.seed,
        "time_limit_s": None if ignores_clock(ctx) else round(limit_s, 2),
        **spec,
    }
    # A fit keeps `time_limit_s` by training less; the limit of the cell only stops one that cannot.
    # It is no shorter than that of a late round: there a slow machine must come to its model.
    return Fit(
        name,
        "models.train.fit_candidate",
        params,
        {"frame": digest},
        Limits(time_s=4 * limit_s + MAX_LATE_ROUND_S),
    )


def longest_first(fits: Sequence[Fit], fit_slots: int) -> list[int]:
    """Return the places of the fits in the order of execution.

    With several fit slots, the longest fits start first, so that no slot is left alone at the end; the
    references precede all, so that an interrupted round has them. With one slot, the given order of preference
    remains.
    """
    places = list(range(len(fits)))
    if fit_slots < 2:
        return places
    return sorted(places, key=lambda place: (fits[place].name not in REFERENCES, -_limit_s(fits[place])))


def _limit_s(fit: Fit) -> float:
    limit_s: Any = fit.params["time_limit_s"]
    return float(limit_s or 0.0)


async def run_round(
    ctx: ToolContext, fits: Sequence[Fit], left_s: float, unplanned: Mapping[str, str] | None = None
) -> CallResult:
    """Run a round of at most about `left_s` seconds. Raises ToolRefused if no fit finished.

    `unplanned`: requested candidates that are not fitted, with their reasons.
    """
    existing_names = {ref.name for ref in await ctx.frames.artifacts("model")}
    outcomes = await _collect_outcomes(ctx, fits, left_s, is_first=not existing_names)
    return _round_result(outcomes, unplanned or {}, existing_names)


async def _collect_outcomes(
    ctx: ToolContext, fits: Sequence[Fit], left_s: float, is_first: bool
) -> list[FitOutcome]:
    """Fan the fits out and return their outcomes in the order of `fits`. `is_first`: there is no model yet."""
    # Without any model yet, fits that a slow machine delays are waited for: to begin them again takes longer.
    overrun_s = MAX_OVERRUN_S * (ctx.training.slowness if is_first else 1.0)
    deadline_s = (
        MAX_DETERMINISTIC_FIT_S * len(fits) if ignores_clock(ctx) else left_s * MAX_OVERRUN_FACTOR + overrun_s
    )
    ordered = longest_first(fits, ctx.training.fit_slots)
    scheduled = [replace(fits[place], grace_s=round(deadline_s - left_s, 2)) for place in ordered]
    outcomes = await ctx.step.fan_out(ctx.call, scheduled, deadline_s)
    # Not those that failed: they would fail again.
    late = [fit for fit, outcome in zip(scheduled, outcomes, strict=True) if outcome.status == "left_out"]
    if is_first and not any(map(_is_model, outcomes)) and any(fit.name != BASELINE for fit in late):
        late_outcomes = await ctx.step.fan_out(f"{ctx.call}.late", late, MAX_LATE_ROUND_S)
        by_name = {outcome.name: outcome for outcome in late_outcomes}
        outcomes = [by_name.get(outcome.name, outcome) for outcome in outcomes]
    return [outcomes[ordered.index(place)] for place in range(len(fits))]


def _round_result(
    outcomes: Sequence[FitOutcome], unplanned: Mapping[str, str], existing_names: set[str]
) -> CallResult:
    """Make the result of a round, with an artifact of each finished fit. Raises ToolRefused without one."""
    done = [outcome for outcome in outcomes if outcome.status == "done"]
    if not done:
        raise ToolRefused(
            "No candidate was fitted. " + " ".join(_failure_reason(outcome) for outcome in outcomes)
        )
    fits_done = [_read_fit(outcome) for outcome in done]
    unfinished = [outcome for outcome in outcomes if outcome.status != "done"]
    scores = ", ".join(f"{fit.name} {format_number(fit.score)}" for fit in fits_done)
    label = describe_metric(fits_done[0].metric).label
    left_out = {**unplanned, **{outcome.name: _failure_reason(outcome) for outcome in unfinished}}
    missing = f" Left out: {', '.join(left_out)}." if left_out else ""
    value: Any = {
        "fits": [without_schema(fit.document) for fit in fits_done],
        "left_out": [{"name": name, "reason": reason} for name, reason in left_out.items()],
    }
    return CallResult(
        value=value,
        summary=f"{label[:1].upper()}{label[1:]}: {scores}.{missing}"[:500],
        artifacts=[model_artifact(outcome, existing_names) for outcome in done],
        usage={"fit_s": round(sum(outcome.wall_s for outcome in done), 3)},
    )


@dataclass(frozen=True)
class OutcomeFile:
    """A file of a finished fit."""

    digest: str
    size_bytes: int
    media_type: str


def _is_model(outcome: FitOutcome) -> bool:
    return outcome.status == "done" and outcome.name != BASELINE


def _read_fit(outcome: FitOutcome) -> CandidateFit:
    facts: Any = outcome.value
    return CandidateFit.from_json(facts)


def without_schema(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of a fit without its input schema, which is long and only the model needs."""
    return {key: value for key, value in facts.items() if key != SCHEMA_KEY}


def model_artifact(outcome: FitOutcome, existing_names: set[str]) -> ArtifactDraft:
    """Return the artifact of a fit: a model for the first part of a candidate, a part for later folds."""
    model, oof = (parse_facts(OutcomeFile, outcome.files[name]) for name in ("model.skops", "oof.parquet"))
    fit = _read_fit(outcome)
    meta = {"fit": fit.document, "oof": oof.digest}
    is_first = outcome.name not in existing_names
    run = ",".join(str(fold) for fold in fit.run or ())
    kind, name = ("model", outcome.name) if is_first else (PART_KIND, f"{outcome.name}[{run}]")
    # Within the round, too: several jobs may fit parts of one candidate, of which one is its model.
    existing_names.add(outcome.name)
    return ArtifactDraft(kind, name, model.media_type, model.digest, model.size_bytes, meta)


def _failure_reason(outcome: FitOutcome) -> str:
    return outcome.reason or f"{outcome.name} did not finish in time."


def format_number(value: float | None) -> str:
    if value is None:
        return "not measured"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def describe_score(metric: str, value: float | None, low: float | None, high: float | None) -> str:
    """Return a score by its name with its 95 % interval, where that was measured."""
    interval = f" ({format_number(low)} to {format_number(high)})" if low is not None else ""
    return f"{describe_metric(metric).label} {format_number(value)}{interval}"
