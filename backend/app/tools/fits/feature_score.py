"""The score of a frame's features: the same plain model on the same folds, with them and without."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal

from app.counts import describe_count
from app.errors import ToolRefused
from app.modeling.facts.conversion import parse_facts
from app.modeling.problem.folds import SplitKind
from app.modeling.problem.kinds import PLAIN
from app.reporting.metrics import describe_metric
from app.sandbox.computation_runner import ComputationFailed
from app.sandbox.exchange.contract import Computation, Limits
from app.sessions.step_scope import CallResult
from app.tools.context.preferences import DEFAULT_BUDGET_S
from app.tools.context.tool_context import ToolContext
from app.tools.data.frames import TRAIN, TrainingFrame, find_training_frame
from app.tools.fits.fit_rounds import MAX_LATE_ROUND_S, format_number, ignores_clock
from app.tools.registry import FrameName, tool

SCORED_FOLDS = 3
"""Folds of a measurement: the least whose differences have an error worth the name."""
FIT_TIME = (0.04, 1.5, 20.0)
"""Time limit of one fit: share of the session's budget, with minimum and maximum in seconds."""
MAX_DETERMINISTIC_FIT_S = 120.0
"""Seconds of a fit where counts decide: this only stops one that hangs."""

Verdict = Literal["kept", "dropped"]


@dataclass(frozen=True)
class FoldScores:
    """The scores of a fit by fold, as `FitFacts` record them."""

    metric: str
    fold_scores: Sequence[float | None]
    greater_is_better: bool = True


@dataclass(frozen=True)
class FeatureGain:
    """The mean gain of score by features over folds, and its standard error."""

    gain: float
    error: float | None
    folds: int

    @property
    def verdict(self) -> Verdict:
        """Features are kept if they gain more than the error of their gain."""
        # One standard error: a stricter test would drop most helpful features on three folds. Exact ties drop.
        return "kept" if self.gain > max(self.error or 0.0, 1e-12) else "dropped"


@tool(agents=("data_analyst",))
async def score_features(ctx: ToolContext, frame: FrameName, against: FrameName = TRAIN) -> CallResult:
    """Measure what the features of `frame` bring beyond those of `against`: the same plain boosted trees on the
    same folds of training rows, with both. Features that gain less than the error of the gain are dropped."""
    first, second = await find_training_frame(ctx, frame), await find_training_frame(ctx, against)
    if first.recipe == second.recipe:
        raise ToolRefused(f"{frame} and {against} have the same features.")
    scores, reference = await _measure(ctx, first), await _measure(ctx, second)
    gain = compute_gain(scores, reference)
    error = f" with an error of {format_number(gain.error)}" if gain.error is not None else ""
    reason = (
        f"{describe_metric(scores.metric).label} gains {format_number(gain.gain)}{error} "
        f"on {describe_count(gain.folds, 'fold')}."
    )
    return CallResult(
        value={
            "frame": frame,
            "against": against,
            "metric": scores.metric,
            "scores": [*scores.fold_scores],
            "scores_against": [*reference.fold_scores],
            "gain": gain.gain,
            "error": gain.error,
            "folds": gain.folds,
            "verdict": gain.verdict,
            "reason": reason,
        },
        summary=f"{frame} is {gain.verdict}: {reason}",
    )


def compute_gain(scores: FoldScores, reference: FoldScores) -> FeatureGain:
    """Compute the gain over the folds of both. Raises ToolRefused without a common fold."""
    sign = 1.0 if scores.greater_is_better else -1.0
    pairs = zip(scores.fold_scores, reference.fold_scores, strict=True)
    # Differences by fold: what makes one fold harder than another cancels out.
    gains = [sign * (first - second) for first, second in pairs if first is not None and second is not None]
    if not gains:
        raise ToolRefused("No fold has a score for both frames.")
    error = statistics.stdev(gains) / sqrt(len(gains)) if len(gains) > 1 else None
    return FeatureGain(statistics.fmean(gains), error, len(gains))


async def _measure(ctx: ToolContext, frame: TrainingFrame) -> FoldScores:
    plan = ctx.training.folds
    numbers = list(range(plan.count))
    # In order of time the last folds learn from most rows, as the model itself will.
    run = numbers[-SCORED_FOLDS:] if plan.kind is SplitKind.TIME else numbers[:SCORED_FOLDS]
    share, min_s, max_s = FIT_TIME
    limit_s = min(max(share * (ctx.preferences.time_budget_s or DEFAULT_BUDGET_S), min_s), max_s)
    params: dict[str, Any] = {
        "problem": ctx.training.problem.to_json(),
        "estimator": PLAIN,
        "folds": plan.to_json(),
        "recipe": frame.recipe,
        "seed": ctx.session.seed,
        "time_limit_s": None if ignores_clock(ctx) else limit_s,
        "run": run,
    }
    work = Computation("models.train.fit_candidate", params)
    limits = Limits(time_s=MAX_DETERMINISTIC_FIT_S if ignores_clock(ctx) else 4 * limit_s + MAX_LATE_ROUND_S)
    try:
        computed = await ctx.computer.run(work, {"frame": frame.digest}, limits)
    except ComputationFailed as failed:
        raise ToolRefused(f"The features could not be scored. {failed.detail}") from failed
    return parse_facts(FoldScores, computed.value)
