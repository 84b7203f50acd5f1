"""Which candidate is best, and whether the data can tell."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import stats

from app.errors import InvalidInput
from app.modeling.candidates import BASELINE
from app.modeling.plain import rounded
from app.modeling.results import Comparison, ComparisonFacts
from app.modeling.scores import SCORES, rank


def compare(fits: Sequence[Mapping[str, Any]], left_out: Sequence[Mapping[str, str]] = ()) -> ComparisonFacts:
    """Candidates by their cross-validated score, each against the best on the same folds.

    Differences are paired by fold; their 95% interval is Student's t with the variance correction of Nadeau
    and Bengio (2003) for folds that share training rows. Raises InvalidInput `nothing_to_compare`.
    """
    scored = {fit["name"]: fit for fit in fits if fit.get("score") is not None}
    if not scored:
        raise InvalidInput("nothing_to_compare", "No candidate has a score to compare.")
    metric = next(iter(scored.values()))["metric"]
    order = rank(metric, {name: fit["score"] for name, fit in scored.items()})
    best = scored[order[0]]
    baseline = next((fit for fit in scored.values() if fit["estimator"] == BASELINE), None)
    board = [_against_best(scored[name], best, baseline) for name in order]
    return {
        "metric": metric,
        "greater_is_better": SCORES[metric].greater_is_better,
        "leaderboard": board,
        "best": order[0],
        "chosen": order[0],
        "reason": _reason(board),
        "baseline": baseline["name"] if baseline else None,
        "beats_baseline": board[0]["beats_baseline"],
        "left_out": [dict(entry) for entry in left_out],
        "figures": [],
    }


def _against_best(
    fit: Mapping[str, Any], best: Mapping[str, Any], baseline: Mapping[str, Any] | None
) -> Comparison:
    low, middle, high = paired_difference(best, fit)
    beats = None
    if baseline is not None and fit is not baseline:
        above = paired_difference(fit, baseline)[0]
        beats = above is not None and above > 0
    return {
        "name": fit["name"],
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


def paired_difference(
    a: Mapping[str, Any], b: Mapping[str, Any]
) -> tuple[float | None, float | None, float | None]:
    """(low, mean, high) of a minus b over folds, positive where a is better; None where folds differ."""
    pairs = [
        (x, y)
        for x, y in zip(a["fold_scores"], b["fold_scores"], strict=False)
        if x is not None and y is not None
    ]
    if len(pairs) < 2 or len(a["fold_scores"]) != len(b["fold_scores"]):
        return None, None, None
    sign = 1 if SCORES[a["metric"]].greater_is_better else -1
    differences = sign * np.array([x - y for x, y in pairs])
    count = len(differences)
    # Each fold tests 1/k of the rows and learns from the rest: test over train rows is 1 / (k - 1).
    deviation = float(np.sqrt((1 / count + 1 / (count - 1)) * differences.var(ddof=1)))
    reach = float(stats.t.ppf(0.975, count - 1)) * deviation
    mean = float(differences.mean())
    return rounded(mean - reach), rounded(mean), rounded(mean + reach)


def _reason(board: Sequence[Comparison]) -> str:
    best, rest = board[0], board[1:]
    close = [row["name"] for row in rest if not row["distinguishable"]]
    said = f"{best['name']} has the best cross-validated score."
    if close:
        shown = ", ".join(close[:3]) + (f" and {len(close) - 3} more" if len(close) > 3 else "")
        said += f" The folds cannot tell it from {shown}."
    if best["beats_baseline"] is False:
        said += " It does not beat the baseline beyond what chance explains."
    return said
