"""Outcome of one task, and means over the tuned or the held-out tasks. Pure functions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev

import numpy as np
from benchmarks.quality.comparison import LABCREW, NAIVE, standardised_claim_error
from benchmarks.quality.run_folders import Json
from benchmarks.quality.scoring import GREATER_IS_BETTER

PLAIN_BOOSTING = "skrub"
MIN_SCORE, MAX_SCORE = -1.0, 2.0
"""Bounds of a normalised score, so that no single task decides a mean."""
MIN_PEER_GAIN = 2.0
"""Standard errors by which the best peer must beat naive: otherwise the columns do not predict the target."""
MAX_WIDTH_RATIO = 1.5
"""Largest width of a claim's interval over that of the test rows' bootstrap: wider ones are easily right."""
CONDITION_OF_SPLIT = {"new groups": "entities", "latest": "time"}
"""The kind of assumption that names the way in which a task's test rows were chosen."""

Results = Mapping[str, Json]


@dataclass(frozen=True)
class Outcome:
    """A task on which Labcrew ran.

    `score`: normalised, 0 is naive and 1 the reference. `difference`: score before it is cut, minus 1, with its
    paired standard error `difference_error`. `claim_error`: (claim - test score) in standard errors, positive
    is optimistic. `names_split`: true if an assumption has the kind and the column of the task's own split.
    `width_ratio`: width of the claim's 95% interval over that of the test rows, None without one. `unmeasured`:
    excluded columns without a score with and without them, None where the result does not list exclusions.
    """

    task: str
    score: float
    difference: float
    difference_error: float
    claim_error: float | None
    names_split: bool | None
    seconds: float | None
    width_ratio: float | None = None
    unmeasured: tuple[str, ...] | None = None

    @property
    def is_worse(self) -> bool:
        return self.difference < -max(self.difference_error, 1e-3)


def is_learnable(results: Results, peers: Sequence[str]) -> bool:
    """Return true if the best peer is two paired standard errors better than naive."""
    naive = results.get(NAIVE)
    if not _has_score(naive):
        return False
    assert naive is not None
    best_peer = _best_result(results, peers)
    return best_peer is not None and _gain(best_peer, naive) >= MIN_PEER_GAIN * _gain_error(best_peer, naive)


def compare_with_peers(task: str, facts: Json, results: Results, peers: Sequence[str]) -> Outcome | None:
    """Compare Labcrew with the best of these peers; None before all have a result."""
    labcrew, naive, best_peer = results.get(LABCREW), results.get(NAIVE), _best_result(results, peers)
    if labcrew is None or best_peer is None or not _has_score(naive):
        return None
    assert naive is not None
    reference = _gain(best_peer, naive)
    if reference <= 0:
        return None
    if not _has_score(labcrew):
        return Outcome(task, 0.0, -1.0, 0.0, None, None, labcrew.get("wall_s"))
    score = _gain(labcrew, naive) / reference
    names_split = names_split_condition(labcrew, facts)
    claim = {**labcrew, **_claim_for_split(labcrew, facts)}
    return Outcome(
        task,
        min(max(score, MIN_SCORE), MAX_SCORE),
        score - 1.0,
        _gain_error(labcrew, best_peer) / reference,
        standardised_claim_error(claim),
        names_split,
        labcrew.get("fit_s"),
        interval_width_ratio(claim),
        unmeasured_exclusions(labcrew),
    )


def interval_width_ratio(claim: Json) -> float | None:
    """Return the width of a claim's interval over the 95% interval of the test rows; None without either."""
    low, high = claim.get("claim_low"), claim.get("claim_high")
    if low is None or high is None:
        return None
    low_quantile, high_quantile = np.nanquantile(claim["draws"], [0.025, 0.975])
    return float((high - low) / (high_quantile - low_quantile)) if high_quantile > low_quantile else None


def unmeasured_exclusions(labcrew: Json) -> tuple[str, ...] | None:
    """List the excluded columns whose effect on the score was not measured: tasks hold no leaking column.

    None for results that were stored before exclusions were.
    """
    if "left_out" not in labcrew:
        return None
    figures = ("holds_score", "otherwise_score")
    measured = {
        column
        for assumption in labcrew.get("assumptions") or ()
        if all(assumption.get(figure) is not None for figure in figures)
        for column in (*(assumption.get("columns") or ()), assumption.get("column"))
    }
    return tuple(column for column in labcrew["left_out"] if column not in measured)


def names_split_condition(labcrew: Json, facts: Json) -> bool | None:
    """Return true if an assumption has the kind and column of the task's own split; None for random rows."""
    return None if facts["cut"] not in CONDITION_OF_SPLIT else _own_condition(labcrew, facts) is not None


@dataclass(frozen=True)
class SubsetSummary:
    """Mean normalised score of a subset of tasks and its standard error, consistent claims, worse tasks.

    `claims_consistent`: claims within two standard errors of the test score. `narrow`: claims, of `widths` with
    an interval, that are at most `MAX_WIDTH_RATIO` times as wide as the test rows' bootstrap. `fully_measured`:
    tasks, of `with_exclusions` that list exclusions, where the effect of each was measured.
    """

    tasks: int
    mean: float
    error: float
    claims: int
    claims_consistent: int
    claims_beyond_four: int
    worse: int
    widths: int = 0
    narrow: int = 0
    median_width: float = math.nan
    with_exclusions: int = 0
    fully_measured: int = 0


def summarise(outcomes: Sequence[Outcome]) -> SubsetSummary | None:
    if not outcomes:
        return None
    scores = [outcome.score for outcome in outcomes]
    claim_errors = [abs(outcome.claim_error) for outcome in outcomes if outcome.claim_error is not None]
    widths = [outcome.width_ratio for outcome in outcomes if outcome.width_ratio is not None]
    unmeasured = [outcome.unmeasured for outcome in outcomes if outcome.unmeasured is not None]
    return SubsetSummary(
        tasks=len(scores),
        mean=fmean(scores),
        error=stdev(scores) / math.sqrt(len(scores)) if len(scores) > 1 else math.nan,
        claims=len(claim_errors),
        claims_consistent=sum(value <= 2 for value in claim_errors),
        claims_beyond_four=sum(value > 4 for value in claim_errors),
        worse=sum(outcome.is_worse for outcome in outcomes),
        widths=len(widths),
        narrow=sum(width <= MAX_WIDTH_RATIO for width in widths),
        median_width=median(widths) if widths else math.nan,
        with_exclusions=len(unmeasured),
        fully_measured=sum(not columns for columns in unmeasured),
    )


def is_overfitted(tuned: SubsetSummary, held_out: SubsetSummary) -> bool:
    """Return true if the means differ by more than 0.02 and two standard errors of their difference."""
    return abs(tuned.mean - held_out.mean) > max(0.02, 2 * math.hypot(tuned.error, held_out.error))


def _claim_for_split(labcrew: Json, facts: Json) -> Json:
    """Return the score that the report expects for the task's own split, where the headline is for another one.

    Random rows are those of known entities and of the same times: the branch on which such a condition holds.
    """
    if facts["cut"] in CONDITION_OF_SPLIT:
        branch, condition = "otherwise", _own_condition(labcrew, facts)
    else:
        branch, condition = "holds", _split_condition(labcrew)
    if condition is None or condition.get("chosen") == branch or condition.get(f"{branch}_score") is None:
        return {}
    if expected := condition.get("expected"):
        # Earlier results do not store it: there the score of plain boosting stands for it.
        return {"claim": expected["value"], "claim_low": expected["low"], "claim_high": expected["high"]}
    bounds = condition.get(f"{branch}_interval") or {}
    return {
        "claim": condition[f"{branch}_score"],
        "claim_low": bounds.get("low"),
        "claim_high": bounds.get("high"),
    }


def _split_condition(labcrew: Json) -> Json | None:
    """Find the condition whose other branch is the split of the session, if it changes the score."""
    entries = [dict(entry) for entry in labcrew.get("assumptions") or () if entry.get("matters")]
    kinds = CONDITION_OF_SPLIT.values()
    otherwise = (entry for entry in entries if entry["kind"] in kinds and entry.get("chosen") == "otherwise")
    return next(otherwise, None)


def _own_condition(labcrew: Json, facts: Json) -> Json | None:
    kind = CONDITION_OF_SPLIT.get(facts["cut"])
    for assumption in labcrew.get("assumptions") or ():
        columns = assumption.get("columns") or [assumption.get("column")]
        if assumption["kind"] == kind and (facts["by"] in columns or assumption.get("column") is None):
            return dict(assumption)
    return None


def _best_result(results: Results, peers: Sequence[str]) -> Json | None:
    scored = [results[name] for name in peers if _has_score(results.get(name))]
    if not scored:
        return None
    sign = 1 if GREATER_IS_BETTER[scored[0]["metric"]] else -1
    return max(scored, key=lambda result: sign * result["score"])


def _has_score(result: Json | None) -> bool:
    return result is not None and result.get("score") is not None


def _gain(result: Json, reference: Json) -> float:
    sign = 1 if GREATER_IS_BETTER[reference["metric"]] else -1
    return float(sign * (result["score"] - reference["score"]))


def _gain_error(result: Json, reference: Json) -> float:
    return float(np.nanstd(np.asarray(result["draws"]) - np.asarray(reference["draws"]), ddof=1))
