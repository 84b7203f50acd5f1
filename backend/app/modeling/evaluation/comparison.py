"""Comparison of candidates: the leaderboard, and the choice of the best."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from scipy import stats

from app.errors import InvalidInput
from app.modeling.facts.computation_facts import Comparison, ComparisonFacts
from app.modeling.facts.fits import CandidateFit
from app.modeling.problem.kinds import BASELINE, ENSEMBLE
from app.modeling.problem.metrics import METRICS
from app.modeling.scoring.scores import rank_scores
from app.modeling.table.json_values import round_significant

Bounds = tuple[float | None, float | None, float | None]
"""(low, middle, high) of a difference."""


class PairedDifference(Protocol):
    """The interval of the difference between two candidates, from the rows that both predicted."""

    def __call__(self, a: CandidateFit, b: CandidateFit) -> Bounds: ...


def compare_candidates(
    fits: Sequence[CandidateFit],
    left_out: Sequence[Mapping[str, str]] = (),
    difference: PairedDifference | None = None,
) -> ComparisonFacts:
    """Rank candidates by their out-of-fold score, and compare each with the best on common folds.

    Candidates may have run different folds: two are ordered by the folds that both have. `difference` gives the
    95% interval of a difference from rows; without it, it is Student's t over folds with the variance
    correction of Nadeau and Bengio (2003) for folds that share training rows. Raises InvalidInput
    `nothing_to_compare`.
    """
    scored = {fit.name: fit for fit in fits if fit.score is not None}
    if not scored:
        raise InvalidInput("nothing_to_compare", "No candidate has a score to compare.")
    difference = difference or difference_over_folds
    metric = next(iter(scored.values())).metric
    ranked = rank_candidates(list(scored.values()))
    best = ranked[0]
    baseline = next((fit for fit in scored.values() if fit.estimator == BASELINE), None)
    weights: Mapping[str, float] = next((fit.weights or {} for fit in ranked if fit.estimator == ENSEMBLE), {})
    leaderboard = [_against_best(fit, best, baseline, difference, weights) for fit in ranked]
    choice = _choose(leaderboard)
    return {
        "metric": metric,
        "greater_is_better": METRICS[metric].greater_is_better,
        "leaderboard": leaderboard,
        "best": best.name,
        "chosen": choice["name"],
        "reason": _reason(leaderboard, choice),
        "baseline": baseline.name if baseline else None,
        "beats_baseline": choice["beats_baseline"],
        "left_out": [dict(entry) for entry in left_out],
        "figures": [],
    }


def rank_candidates(fits: Sequence[CandidateFit]) -> list[CandidateFit]:
    """Rank candidates by the distance to a reference on common folds: the ensemble, or the best by score."""
    by_score = rank_scores(fits[0].metric, {str(index): fit.score for index, fit in enumerate(fits)})
    ranked = [fits[int(index)] for index in by_score]
    reference = next((fit for fit in ranked if fit.estimator == ENSEMBLE), ranked[0])
    return sorted(ranked, key=lambda fit: _behind(reference, fit))


def _behind(reference: CandidateFit, fit: CandidateFit) -> float:
    if fit is reference:
        return 0.0
    differences = fold_differences(reference, fit)
    if len(differences):
        return float(differences.mean())
    sign = 1 if METRICS[fit.metric].greater_is_better else -1
    return float(sign * ((reference.score or 0.0) - (fit.score or 0.0)))


def fold_differences(a: CandidateFit, b: CandidateFit) -> np.ndarray:
    """Compute by how much `a` is better on each common fold (folds,)."""
    scores = zip(a.fold_scores, b.fold_scores, strict=False)
    differences = np.array([x - y for x, y in scores if x is not None and y is not None])
    return differences if not len(differences) or METRICS[a.metric].greater_is_better else -differences


def _against_best(
    fit: CandidateFit,
    best: CandidateFit,
    baseline: CandidateFit | None,
    difference: PairedDifference,
    weights: Mapping[str, float],
) -> Comparison:
    low, middle, high = difference(best, fit) if fit is not best else (0.0, 0.0, 0.0)
    beats = None
    if baseline is not None and fit is not baseline:
        above = difference(fit, baseline)[0]
        beats = above is not None and above > 0
    return {
        "name": fit.name,
        "kind": _kind(fit, weights),
        "weight": weights.get(fit.name),
        "folds": sum(score is not None for score in fit.fold_scores),
        "score": fit.score,
        "std": fit.std,
        "difference": middle,
        "low": low,
        "high": high,
        "distinguishable": low is not None and low > 0,
        "beats_baseline": beats,
        "fit_s": fit.fit_s,
        "limited": fit.limited,
    }


def _kind(fit: CandidateFit, weights: Mapping[str, float]) -> str:
    if fit.estimator in (BASELINE, ENSEMBLE):
        return "baseline" if fit.estimator == BASELINE else "ensemble"
    return "member" if weights.get(fit.name) else "candidate"


def difference_over_folds(a: CandidateFit, b: CandidateFit) -> Bounds:
    """Compute (low, mean, high) of a minus b over folds, positive if a is better; None if folds differ."""
    differences = fold_differences(a, b)
    count = len(differences)
    if count < 2 or len(a.fold_scores) != len(b.fold_scores):
        return None, None, None
    # Each fold tests 1/k of the rows and learns from the rest: test over train rows is 1 / (k - 1).
    deviation = float(np.sqrt((1 / count + 1 / (count - 1)) * differences.var(ddof=1)))
    half_width = float(stats.t.ppf(0.975, count - 1)) * deviation
    mean = float(differences.mean())
    return round_significant(mean - half_width), round_significant(mean), round_significant(mean + half_width)


def _choose(leaderboard: Sequence[Comparison]) -> Comparison:
    """The best candidate; an ensemble that is not distinguishable from it is preferred, because the best of
    many scores is too high by selection."""
    ensembles = (row for row in leaderboard if row["kind"] == "ensemble" and not row["distinguishable"])
    return next(ensembles, leaderboard[0])


def _reason(leaderboard: Sequence[Comparison], choice: Comparison) -> str:
    best = leaderboard[0]
    indistinguishable = [row["name"] for row in leaderboard if row is not best and not row["distinguishable"]]
    sentences = f"{best['name']} has the best out-of-fold score."
    if indistinguishable:
        names = ", ".join(indistinguishable[:3]) + (
            f" and {len(indistinguishable) - 3} more" if len(indistinguishable) > 3 else ""
        )
        sentences += f" These rows do not distinguish it from {names}."
    if choice is not best:
        sentences += f" {choice['name']} is chosen, because it averages several of them."
    if choice["beats_baseline"] is False:
        sentences += " It does not beat the baseline beyond chance."
    return sentences
