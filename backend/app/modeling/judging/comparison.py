"""Which candidate is best, and whether the data can tell."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from scipy import stats

from app.errors import InvalidInput
from app.modeling.problem.kinds import BASELINE, ENSEMBLE
from app.modeling.problem.metrics import METRICS
from app.modeling.problem.results import Comparison, ComparisonFacts
from app.modeling.scoring.scores import rank_scores
from app.modeling.table.json_values import round_significant

Fit = Mapping[str, Any]
Bounds = tuple[float | None, float | None, float | None]
"""(low, middle, high) of a difference."""


class Apart(Protocol):
    """By how much one candidate is better than another, as far as the rows that both judged can tell."""

    def __call__(self, a: Fit, b: Fit) -> Bounds: ...


def compare(
    fits: Sequence[Fit], left_out: Sequence[Mapping[str, str]] = (), apart: Apart | None = None
) -> ComparisonFacts:
    """Candidates by their score on rows that did not teach them, each against the best on the same folds.

    Candidates may have run different folds: two are ordered by the folds that both have. `apart` gives the 95%
    interval of a difference from rows; without it, it is Student's t over folds with the variance correction of
    Nadeau and Bengio (2003) for folds that share training rows. Raises InvalidInput `nothing_to_compare`.
    """
    scored = {fit["name"]: fit for fit in fits if fit.get("score") is not None}
    if not scored:
        raise InvalidInput("nothing_to_compare", "No candidate has a score to compare.")
    apart = apart or paired_difference
    metric = next(iter(scored.values()))["metric"]
    ordered = in_order(list(scored.values()))
    best = ordered[0]
    baseline = next((fit for fit in scored.values() if fit["estimator"] == BASELINE), None)
    weights: Mapping[str, float] = next((fit["weights"] for fit in ordered if fit["estimator"] == ENSEMBLE), {})
    board = [_against_best(fit, best, baseline, apart, weights) for fit in ordered]
    chosen = _chosen(board)
    return {
        "metric": metric,
        "greater_is_better": METRICS[metric].greater_is_better,
        "leaderboard": board,
        "best": best["name"],
        "chosen": chosen["name"],
        "reason": _reason(board, chosen),
        "baseline": baseline["name"] if baseline else None,
        "beats_baseline": chosen["beats_baseline"],
        "left_out": [dict(entry) for entry in left_out],
        "figures": [],
    }


def in_order(fits: Sequence[Fit]) -> list[Fit]:
    """Best first: each by how far it is behind one of them, the ensemble if there is one, on common folds."""
    by_score = rank_scores(fits[0]["metric"], {str(place): fit["score"] for place, fit in enumerate(fits)})
    ranked = [fits[int(place)] for place in by_score]
    reference = next((fit for fit in ranked if fit["estimator"] == ENSEMBLE), ranked[0])
    return sorted(ranked, key=lambda fit: _behind(reference, fit))


def _behind(reference: Fit, fit: Fit) -> float:
    if fit is reference:
        return 0.0
    differences = by_common_folds(reference, fit)
    if len(differences):
        return float(differences.mean())
    sign = 1 if METRICS[fit["metric"]].greater_is_better else -1
    return float(sign * (reference["score"] - fit["score"]))


def by_common_folds(a: Fit, b: Fit) -> np.ndarray:
    """What a is better by, on each fold that both have."""
    scores = zip(a.get("fold_scores", ()), b.get("fold_scores", ()), strict=False)
    differences = np.array([x - y for x, y in scores if x is not None and y is not None])
    return differences if not len(differences) or METRICS[a["metric"]].greater_is_better else -differences


def _against_best(
    fit: Fit, best: Fit, baseline: Fit | None, apart: Apart, weights: Mapping[str, float]
) -> Comparison:
    low, middle, high = apart(best, fit) if fit is not best else (0.0, 0.0, 0.0)
    beats = None
    if baseline is not None and fit is not baseline:
        above = apart(fit, baseline)[0]
        beats = above is not None and above > 0
    return {
        "name": fit["name"],
        "kind": _kind(fit, weights),
        "weight": weights.get(fit["name"]),
        "folds": sum(score is not None for score in fit["fold_scores"]),
        "score": fit["score"],
        "std": fit["std"],
        "difference": middle,
        "low": low,
        "high": high,
        "distinguishable": low is not None and low > 0,
        "beats_baseline": beats,
        "fit_s": fit["fit_s"],
        "limited": fit.get("limited"),
    }


def _kind(fit: Fit, weights: Mapping[str, float]) -> str:
    if fit["estimator"] in (BASELINE, ENSEMBLE):
        return "baseline" if fit["estimator"] == BASELINE else "ensemble"
    return "member" if weights.get(fit["name"]) else "candidate"


def paired_difference(a: Fit, b: Fit) -> Bounds:
    """(low, mean, high) of a minus b over folds, positive where a is better; None where folds differ."""
    differences = by_common_folds(a, b)
    count = len(differences)
    if count < 2 or len(a["fold_scores"]) != len(b["fold_scores"]):
        return None, None, None
    # Each fold tests 1/k of the rows and learns from the rest: test over train rows is 1 / (k - 1).
    deviation = float(np.sqrt((1 / count + 1 / (count - 1)) * differences.var(ddof=1)))
    reach = float(stats.t.ppf(0.975, count - 1)) * deviation
    mean = float(differences.mean())
    return round_significant(mean - reach), round_significant(mean), round_significant(mean + reach)


def _chosen(board: Sequence[Comparison]) -> Comparison:
    """The best; an ensemble that cannot be told from it goes first: being the best of many flatters a score."""
    blended = (row for row in board if row["kind"] == "ensemble" and not row["distinguishable"])
    return next(blended, board[0])


def _reason(board: Sequence[Comparison], chosen: Comparison) -> str:
    best = board[0]
    close = [row["name"] for row in board if row is not best and not row["distinguishable"]]
    said = f"{best['name']} has the best score on rows that did not teach it."
    if close:
        shown = ", ".join(close[:3]) + (f" and {len(close) - 3} more" if len(close) > 3 else "")
        said += f" These rows cannot tell it from {shown}."
    if chosen is not best:
        said += f" {chosen['name']} is chosen: it rests on several of them."
    if chosen["beats_baseline"] is False:
        said += " It does not beat the baseline beyond what chance explains."
    return said
