"""Pure: one task's outcome, and the means of a half."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev

import numpy as np
from benchmarks.quality.home import Json
from benchmarks.quality.judge import GREATER_IS_BETTER
from benchmarks.quality.standing import NAIVE, OURS, surprise

PLAIN = "skrub"
LOWEST, HIGHEST = -1.0, 2.0
"""Bounds of a normalised score, so that no single task decides a mean."""
MIN_LEAD = 2.0
"""Standard errors by which the best peer must beat naive: otherwise the columns do not tell the target."""
MAX_WIDTH_RATIO = 1.5
"""Widths of the test rows' bootstrap that the interval of a claim may have: a wider one is right too easily."""
CONDITION_OF_CUT = {"new groups": "entities", "latest": "time"}
"""The kind of assumption that names the way in which a task's test rows were chosen."""

Results = Mapping[str, Json]


@dataclass(frozen=True)
class Outcome:
    """A task on which Labcrew ran.

    `score`: normalised, 0 is naive and 1 the reference. `lead`: by how much it is above 1, and `lead_error` its
    paired standard error. `surprise`: (claim - truth) in standard errors, positive is too good. `width_ratio`:
    the claim's 95% interval over that of the test rows, None without one. `unexplained`: columns left out
    without a score with and without them, None where the result does not tell what was left out.
    """

    task: str
    score: float
    lead: float
    lead_error: float
    surprise: float | None
    named: bool | None
    seconds: float | None
    width_ratio: float | None = None
    unexplained: tuple[str, ...] | None = None

    @property
    def is_below(self) -> bool:
        return self.lead < -max(self.lead_error, 1e-3)


def is_worth_running(results: Results, peers: Sequence[str]) -> bool:
    """Whether the best peer is two paired standard errors better than naive."""
    naive = results.get(NAIVE)
    if not _has_score(naive):
        return False
    assert naive is not None
    best = _best(results, peers)
    return best is not None and _gain(best, naive) >= MIN_LEAD * _gain_error(best, naive)


def judge_outcome(task: str, facts: Json, results: Results, peers: Sequence[str]) -> Outcome | None:
    """Ours against the best of these peers; None before all that ran it."""
    ours, naive, best = results.get(OURS), results.get(NAIVE), _best(results, peers)
    if ours is None or best is None or not _has_score(naive):
        return None
    assert naive is not None
    reference = _gain(best, naive)
    if reference <= 0:
        return None
    if not _has_score(ours):
        return Outcome(task, 0.0, -1.0, 0.0, None, None, ours.get("wall_s"))
    score = _gain(ours, naive) / reference
    named = names_condition(ours, facts)
    claim = {**ours, **_condition_claim(ours, facts)}
    return Outcome(
        task,
        min(max(score, LOWEST), HIGHEST),
        score - 1.0,
        _gain_error(ours, best) / reference,
        surprise(claim),
        named,
        ours.get("fit_s"),
        measure_width(claim),
        list_unexplained(ours),
    )


def measure_width(claim: Json) -> float | None:
    """Return the width of a claim's interval over the 95% interval of the test rows; None without either."""
    low, high = claim.get("claim_low"), claim.get("claim_high")
    if low is None or high is None:
        return None
    lowest, highest = np.nanquantile(claim["draws"], [0.025, 0.975])
    return float((high - low) / (highest - lowest)) if highest > lowest else None


def list_unexplained(ours: Json) -> tuple[str, ...] | None:
    """List the columns left out without a figure: tasks hold no column that gives the target away.

    None for results that were stored before they told what was left out.
    """
    if "left_out" not in ours:
        return None
    figures = ("holds_score", "otherwise_score")
    measured = {
        column
        for assumption in ours.get("assumptions") or ()
        if all(assumption.get(figure) is not None for figure in figures)
        for column in (*(assumption.get("columns") or ()), assumption.get("column"))
    }
    return tuple(column for column in ours["left_out"] if column not in measured)


def names_condition(ours: Json, facts: Json) -> bool | None:
    """Whether an assumption has the kind and the column of the task's own split; None for random rows."""
    return None if facts["cut"] not in CONDITION_OF_CUT else _own_condition(ours, facts) is not None


@dataclass(frozen=True)
class HalfMean:
    """Mean normalised score of a half and its standard error, claims that hold, tasks below the reference.

    `narrow`: claims, of `widths` with an interval, that are at most `MAX_WIDTH_RATIO` times as wide as the test
    rows' bootstrap. `explained`: tasks, of `listed` that tell it, without a column left out that has no figure.
    """

    tasks: int
    mean: float
    error: float
    claims: int
    claims_held: int
    claims_beyond_four: int
    below: int
    widths: int = 0
    narrow: int = 0
    median_width: float = math.nan
    listed: int = 0
    explained: int = 0


def summarise(outcomes: Sequence[Outcome]) -> HalfMean | None:
    if not outcomes:
        return None
    scores = [outcome.score for outcome in outcomes]
    surprises = [abs(outcome.surprise) for outcome in outcomes if outcome.surprise is not None]
    widths = [outcome.width_ratio for outcome in outcomes if outcome.width_ratio is not None]
    unexplained = [outcome.unexplained for outcome in outcomes if outcome.unexplained is not None]
    return HalfMean(
        tasks=len(scores),
        mean=fmean(scores),
        error=stdev(scores) / math.sqrt(len(scores)) if len(scores) > 1 else math.nan,
        claims=len(surprises),
        claims_held=sum(value <= 2 for value in surprises),
        claims_beyond_four=sum(value > 4 for value in surprises),
        below=sum(outcome.is_below for outcome in outcomes),
        widths=len(widths),
        narrow=sum(width <= MAX_WIDTH_RATIO for width in widths),
        median_width=median(widths) if widths else math.nan,
        listed=len(unexplained),
        explained=sum(not columns for columns in unexplained),
    )


def is_tuned_to_tables(tuned: HalfMean, aside: HalfMean) -> bool:
    """Whether the means differ by more than 0.02 and by more than two standard errors of their difference."""
    return abs(tuned.mean - aside.mean) > max(0.02, 2 * math.hypot(tuned.error, aside.error))


def _condition_claim(ours: Json, facts: Json) -> Json:
    """The score that the report gives for the task's own split, where the headline is for another one.

    Random rows are those of known entities and of the same times: the side on which such a condition holds.
    """
    if facts["cut"] in CONDITION_OF_CUT:
        side, condition = "otherwise", _own_condition(ours, facts)
    else:
        side, condition = "holds", _split_condition(ours)
    if condition is None or condition.get("chosen") == side or condition.get(f"{side}_score") is None:
        return {}
    if expected := condition.get("expected"):
        # Earlier results do not tell it: there the score of plain boosting stands for it.
        return {"claim": expected["value"], "claim_low": expected["low"], "claim_high": expected["high"]}
    bounds = condition.get(f"{side}_interval") or {}
    return {
        "claim": condition[f"{side}_score"],
        "claim_low": bounds.get("low"),
        "claim_high": bounds.get("high"),
    }


def _split_condition(ours: Json) -> Json | None:
    """The condition whose other side is the split that was chosen, if it changes the score."""
    entries = [dict(entry) for entry in ours.get("assumptions") or () if entry.get("matters")]
    kinds = CONDITION_OF_CUT.values()
    return next((e for e in entries if e["kind"] in kinds and e.get("chosen") == "otherwise"), None)


def _own_condition(ours: Json, facts: Json) -> Json | None:
    kind = CONDITION_OF_CUT.get(facts["cut"])
    for assumption in ours.get("assumptions") or ():
        columns = assumption.get("columns") or [assumption.get("column")]
        if assumption["kind"] == kind and (facts["by"] in columns or assumption.get("column") is None):
            return dict(assumption)
    return None


def _best(results: Results, peers: Sequence[str]) -> Json | None:
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
