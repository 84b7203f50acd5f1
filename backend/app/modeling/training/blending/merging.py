"""Candidates merged from parts that were fitted separately, weighted on their common out-of-fold rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from app.errors import InvalidInput
from app.modeling.facts.fits import CandidateFit
from app.modeling.problem.problem import Problem
from app.modeling.recipe.forecast_origins import ROWS_AHEAD
from app.modeling.training.cross_validation import aggregate_folds
from app.modeling.training.ensemble.weights import UNWEIGHTED, CandidatePredictions, choose_weights


@dataclass(frozen=True)
class CandidateParts:
    """One candidate: the positions of its parts among the inputs, and its out-of-fold rows by position."""

    name: str
    part_indices: list[int]
    oof: pd.DataFrame

    @property
    def rows(self) -> np.ndarray:
        rows: np.ndarray = self.oof.index.to_numpy()
        return rows


def merge_parts(fits: Sequence[CandidateFit], oofs: Sequence[pd.DataFrame]) -> list[CandidateParts]:
    """Merge the parts of each candidate; a row predicted by several parts gets their mean."""
    names = list(dict.fromkeys(fit.name for fit in fits))
    candidates = []
    for name in names:
        part_indices = [index for index, fit in enumerate(fits) if fit.name == name]
        oof = pd.concat([oofs[index] for index in part_indices]).groupby("row", sort=True).mean()
        candidates.append(CandidateParts(name, part_indices, oof))
    return candidates


@dataclass(frozen=True)
class WeightedCandidates:
    """Candidates with weights.

    `weights` by name, without zeros; `rows`: positions of the rows that all candidates predicted; `judged`:
    their out-of-fold predictions, and `average` the weighted average of them.
    """

    weights: dict[str, float]
    average: np.ndarray
    rows: np.ndarray
    fold: np.ndarray
    judged: CandidatePredictions
    ahead: np.ndarray | None = None
    """Rows ahead that each row predicts, if rows are expanded by step."""


def weight_candidates(candidates: Sequence[CandidateParts], problem: Problem, seed: int) -> WeightedCandidates:
    """Weight candidates on the rows that all predicted; again without those of weight 0, if that gives more
    rows.

    In time order only the latest fold counts: earlier folds trained on fewer rows, about times that are over.
    Raises InvalidInput `nothing_in_common` if no row was predicted by all.
    """
    candidates_left = [candidate for candidate in candidates if len(candidate.rows)]
    while True:
        rows = _common_rows(candidates_left)
        judged = _stack_predictions(candidates_left, rows, problem)
        # The mean over parts made a float of the fold.
        fold = candidates_left[0].oof.loc[rows, "fold"].to_numpy().round().astype(int)
        weighted_rows = np.flatnonzero(fold == fold.max()) if problem.time_column else np.arange(len(rows))
        weights = choose_weights(judged.select_rows(weighted_rows), problem, seed)
        positive = [candidate for candidate, weight in zip(candidates_left, weights, strict=True) if weight > 0]
        # Each round drops a candidate, so the loop ends.
        if len(positive) == len(candidates_left) or len(_common_rows(positive)) == len(rows):
            break
        candidates_left = positive
    positions = np.flatnonzero(weights > 0)
    return WeightedCandidates(
        {candidates_left[index].name: float(weights[index]) for index in positions},
        judged.weighted_average(weights),
        rows,
        fold,
        judged,
        candidates_left[0].oof.loc[rows, ROWS_AHEAD].to_numpy()
        if ROWS_AHEAD in candidates_left[0].oof
        else None,
    )


def _common_rows(candidates: Sequence[CandidateParts]) -> np.ndarray:
    rows = candidates[0].rows if candidates else np.zeros(0, dtype=int)
    for candidate in candidates[1:]:
        # Rows are the index of a grouped table, so none comes twice.
        rows = np.intersect1d(rows, candidate.rows, assume_unique=True)
    if not len(rows):
        raise InvalidInput("nothing_in_common", "The candidates have no out-of-fold row in common.")
    return rows


def _stack_predictions(
    candidates: Sequence[CandidateParts], rows: np.ndarray, problem: Problem
) -> CandidatePredictions:
    outputs = np.stack([extract_predictions(candidate.oof.loc[rows], problem) for candidate in candidates])
    return CandidatePredictions(candidates[0].oof.loc[rows, "truth"].to_numpy(), outputs)


def extract_predictions(oof: pd.DataFrame, problem: Problem) -> np.ndarray:
    """Extract the predictions of an oof.parquet: (rows, classes) or (rows,)."""
    if not problem.is_classification:
        return oof["prediction"].to_numpy(dtype="float64")
    return oof[[f"p_{place}" for place in range(len(problem.classes or ()))]].to_numpy(dtype="float64")


def assign_weight_folds(fold: np.ndarray, time_ordered: bool, seed: int) -> np.ndarray:
    """Assign rows to parts for cross-fitted weights: the folds if there are three, else five random parts.

    In time order five consecutive parts of the latest fold; earlier folds take part `UNWEIGHTED`.
    """
    if time_ordered:
        latest = np.flatnonzero(fold == fold.max())
        parts = np.full(len(fold), UNWEIGHTED)
        # Consecutive, since neighbours in time are alike: a random part would be judged by its own neighbours.
        parts[latest] = np.arange(len(latest)) * 5 // len(latest)
        return parts
    if len(np.unique(fold)) >= 3:
        return fold
    # Weights fitted on one fold and judged on another of two would rest on half of the rows.
    return np.random.default_rng(seed).permutation(np.arange(len(fold)) * 5 // len(fold))


def summarize_candidate(parts: CandidateParts, fits: Sequence[CandidateFit], metric: str) -> dict[str, Any]:
    """Summarize a candidate over its parts."""
    part_fits = [fits[index] for index in parts.part_indices]
    # Each part has a score for its own folds and None for the others.
    by_fold = [
        next((score for score in scores if score is not None), None)
        for scores in zip(*(fit.fold_scores for fit in part_fits), strict=True)
    ]
    scores = [{metric: score} for score in by_fold if score is not None]
    return {
        "name": parts.name,
        "estimator": part_fits[0].estimator,
        "hyperparameters": dict(part_fits[0].hyperparameters),
        "recipe": part_fits[0].recipe,
        "settings": dict(part_fits[0].settings),
        "score": aggregate_folds(scores, metric, np.mean) if scores else None,
        "std": aggregate_folds(scores, metric, lambda s: np.std(s, ddof=1)) if len(scores) > 1 else None,
        "fold_scores": by_fold,
        "fold_count": len(scores),
        "fit_s": round(sum(fit.fit_s for fit in part_fits), 3),
        "limited": next((fit.limited for fit in part_fits if fit.limited), None),
    }
