"""Comparison of candidates on the same folds: the leaderboard, and the choice of the best."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from scipy import stats

from app.errors import InvalidInput
from app.modeling.facts.computation_facts import Comparison, ComparisonFacts
from app.modeling.facts.fits import CandidateFit
from app.modeling.problem.kinds import BASELINE, ENSEMBLE, PLAIN, REFERENCES
from app.modeling.problem.metrics import METRICS
from app.modeling.scoring.scores import rank_scores
from app.modeling.table.json_values import round_significant

Bounds = tuple[float | None, float | None, float | None]
"""(low, middle, high) of a difference."""


class PairedDifference(Protocol):
    """The interval of the difference between two candidates, from the rows that both predicted.

    `rows_of`: a candidate whose rows alone count, if there is one.
    """

    def __call__(self, a: CandidateFit, b: CandidateFit, rows_of: CandidateFit | None = None) -> Bounds: ...


def compare_candidates(
    fits: Sequence[CandidateFit],
    left_out: Sequence[Mapping[str, str]] = (),
    difference: PairedDifference | None = None,
) -> ComparisonFacts:
    """Rank candidates by their out-of-fold score on the same folds, each with its distance to the best.

    The folds are those of the ensemble, else of the candidate with the most. Candidates that lack one of them
    are listed last and not compared. `difference` gives the 95% interval of a difference from rows; without it,
    it is Student's t over folds with the variance correction of Nadeau and Bengio (2003) for folds that share
    training rows. Raises InvalidInput `nothing_to_compare`.
    """
    scored = [fit for fit in fits if fit.score is not None]
    if not scored:
        raise InvalidInput("nothing_to_compare", "No candidate has a score to compare.")
    difference = difference or difference_over_folds
    reference = _find_reference(scored)
    folds = _scored_folds(reference)
    finished = _find_finished(scored, folds)
    ranked = _rank([restrict_to_folds(fit, folds) for fit in finished])
    incomplete = sorted(
        (fit for fit in scored if fit not in finished), key=lambda fit: -len(_scored_folds(fit))
    )
    best = ranked[0]
    baseline = next((fit for fit in scored if fit.estimator == BASELINE), None)
    weights: Mapping[str, float] = next((fit.weights or {} for fit in ranked if fit.estimator == ENSEMBLE), {})
    leaderboard = [
        _row(
            fit,
            difference(best, fit, reference) if fit is not best else (0.0, 0.0, 0.0),
            _beats(fit, baseline, reference, difference),
            weights,
        )
        for fit in ranked
    ]
    leaderboard += [
        # On its own rows, which the baseline predicted too.
        _row(fit, (None, None, None), _beats(fit, baseline, fit, difference), weights, is_compared=False)
        for fit in incomplete
    ]
    choice = _choose(leaderboard)
    metric = best.metric
    return {
        "metric": metric,
        "greater_is_better": METRICS[metric].greater_is_better,
        "leaderboard": leaderboard,
        "folds_compared": len(folds),
        "best": best.name,
        "chosen": choice["name"],
        "reason": _reason(leaderboard, choice),
        "baseline": baseline.name if baseline else None,
        "beats_baseline": choice["beats_baseline"],
        "left_out": [dict(entry) for entry in left_out],
        "figures": [],
    }


def _find_finished(fits: Sequence[CandidateFit], folds: frozenset[int]) -> list[CandidateFit]:
    """Return the candidates that are compared: those with these folds that their time did not cut.

    Where time cut every model, those that it cut are compared all the same, since one of them is delivered.
    """
    complete = [fit for fit in fits if _scored_folds(fit) >= folds]
    finished = [fit for fit in complete if not fit.is_cut]
    return finished if any(fit.estimator != BASELINE for fit in finished) else complete


def _scored_folds(fit: CandidateFit) -> frozenset[int]:
    return frozenset(place for place, score in enumerate(fit.fold_scores) if score is not None)


def _find_reference(fits: Sequence[CandidateFit]) -> CandidateFit:
    """Return the candidate on whose folds all are compared: the ensemble, else the one with the most folds."""
    # The baseline is cheap and has all folds: it would exclude each model that lacks one.
    models = [fit for fit in fits if fit.estimator not in REFERENCES] or fits
    ensemble = next((fit for fit in models if fit.estimator == ENSEMBLE), None)
    return ensemble or max(models, key=lambda fit: len(_scored_folds(fit)))


def restrict_to_folds(fit: CandidateFit, folds: frozenset[int]) -> CandidateFit:
    """Return a fit with its scores on these folds alone."""
    if _scored_folds(fit) == folds:
        return fit
    # A mean over other folds is not comparable: some folds are harder.
    kept_scores = [score if place in folds else None for place, score in enumerate(fit.fold_scores)]
    finite = [score for score in kept_scores if score is not None]
    return replace(
        fit,
        fold_scores=kept_scores,
        score=statistics.fmean(finite),
        std=statistics.stdev(finite) if len(finite) > 1 else None,
    )


def _rank(fits: Sequence[CandidateFit]) -> list[CandidateFit]:
    by_score = rank_scores(fits[0].metric, {str(index): fit.score for index, fit in enumerate(fits)})
    return [fits[int(index)] for index in by_score]


def fold_differences(a: CandidateFit, b: CandidateFit) -> np.ndarray:
    """Compute by how much `a` is better on each common fold (folds,)."""
    scores = zip(a.fold_scores, b.fold_scores, strict=False)
    differences = np.array([x - y for x, y in scores if x is not None and y is not None])
    return differences if not len(differences) or METRICS[a.metric].greater_is_better else -differences


def _beats(
    fit: CandidateFit,
    baseline: CandidateFit | None,
    rows_of: CandidateFit,
    difference: PairedDifference,
) -> bool | None:
    if baseline is None or fit.estimator == BASELINE:
        return None
    low = difference(fit, baseline, rows_of)[0]
    return low is not None and low > 0


def _row(
    fit: CandidateFit,
    bounds: Bounds,
    beats_baseline: bool | None,
    weights: Mapping[str, float],
    is_compared: bool = True,
) -> Comparison:
    low, middle, high = bounds
    return {
        "name": fit.name,
        "kind": _kind(fit, weights),
        "weight": weights.get(fit.name),
        "folds": len(_scored_folds(fit)),
        "fold_count": len(fit.fold_scores),
        "is_compared": is_compared,
        "score": fit.score,
        "std": (fit.std or None) if len(_scored_folds(fit)) > 1 else None,
        "difference": middle,
        "low": low,
        "high": high,
        "distinguishable": low is not None and low > 0,
        "beats_baseline": beats_baseline,
        "fit_s": fit.fit_s,
        "limited": fit.limited,
        "is_cut": fit.is_cut,
        "learned_rows": int(fit.rows * fit.learned_share) if fit.rows else None,
    }


def _kind(fit: CandidateFit, weights: Mapping[str, float]) -> str:
    if fit.estimator in (BASELINE, ENSEMBLE):
        return "baseline" if fit.estimator == BASELINE else "ensemble"
    return "member" if weights.get(fit.name) else "candidate"


def difference_over_folds(a: CandidateFit, b: CandidateFit, rows_of: CandidateFit | None = None) -> Bounds:
    """Compute (low, mean, high) of a minus b over folds, positive if a is better; None if folds differ."""
    differences = fold_differences(a, b)
    count = len(differences)
    # Plans of different size have other rows at the same place.
    if count < 2 or len(a.fold_scores) != len(b.fold_scores):
        return None, None, None
    # Each fold tests 1/k of the rows and learns from the rest: test over train rows is 1 / (k - 1).
    deviation = float(np.sqrt((1 / count + 1 / (count - 1)) * differences.var(ddof=1)))
    half_width = float(stats.t.ppf(0.975, count - 1)) * deviation
    mean = float(differences.mean())
    return round_significant(mean - half_width), round_significant(mean), round_significant(mean + half_width)


def _choose(leaderboard: Sequence[Comparison]) -> Comparison:
    """Choose the best, or an ensemble that these rows do not distinguish from it and that beats the plain one.

    The best of many scores is too high by selection, and an average of several models is less so. A simpler
    model within one standard error of the best is not preferred: over many tables that costs accuracy. Nothing
    was selected for the plain candidate, so an ensemble with a worse score than it has learned nothing more.
    """
    compared = [row for row in leaderboard if row["is_compared"]]
    # In the order of scores: an ensemble that comes after the plain candidate does not beat it.
    for row in compared:
        if row["name"] == PLAIN:
            break
        if row["kind"] == "ensemble" and not row["distinguishable"]:
            return row
    return leaderboard[0]


def _reason(leaderboard: Sequence[Comparison], choice: Comparison) -> str:
    best = leaderboard[0]
    compared = [row for row in leaderboard if row["is_compared"]]
    cut = [row["name"] for row in leaderboard if not row["is_compared"] and row.get("is_cut")]
    incomplete = [row["name"] for row in leaderboard if not row["is_compared"] and row["name"] not in cut]
    tied = [row["name"] for row in compared if row is not best and not row["distinguishable"]]
    sentences = f"{best['name']} has the best out-of-fold score."
    if tied:
        sentences += f" These rows do not distinguish it from {_join(tied)}."
    if choice is not best:
        sentences += f" {choice['name']} is chosen, because it averages several of them."
    if incomplete:
        sentences += f" Judged on fewer folds, and not compared: {_join(incomplete)}."
    if cut:
        sentences += f" Cut by their time, and not compared as if finished: {_join(cut)}."
    if choice["beats_baseline"] is False:
        sentences += " It does not beat the baseline beyond chance."
    return sentences


def _join(names: Sequence[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more
