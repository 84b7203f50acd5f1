"""Parts of candidates, fitted apart, put together: the rows that were judged, and what is said of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from app.errors import InvalidInput
from app.modeling.problem.problem import Problem
from app.modeling.recipe.forecast_origins import ROWS_AHEAD
from app.modeling.scoring.scores import Predicted, score_all
from app.modeling.training.cross_validation import over_folds
from app.modeling.training.ensemble.weights import NO_SAY, Judged, weigh

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Parts:
    """One candidate: the places of its parts among the inputs, and its out-of-fold rows by position."""

    name: str
    places: list[int]
    oof: pd.DataFrame

    @property
    def rows(self) -> np.ndarray:
        rows: np.ndarray = self.oof.index.to_numpy()
        return rows


def merged(fits: Sequence[Facts], oofs: Sequence[pd.DataFrame]) -> list[Parts]:
    """Candidates in the order of their names; a row that several parts judged has their mean."""
    names = list(dict.fromkeys(fit["name"] for fit in fits))
    made = []
    for name in names:
        places = [place for place, fit in enumerate(fits) if fit["name"] == name]
        together = pd.concat([oofs[place] for place in places]).groupby("row", sort=True).mean()
        made.append(Parts(name, places, together))
    return made


@dataclass(frozen=True)
class Weighed:
    """`weights` by name, none 0; what the candidates say of the `rows` that all judged, and their `average`."""

    weights: dict[str, float]
    average: np.ndarray
    rows: np.ndarray
    fold: np.ndarray
    judged: Judged
    ahead: np.ndarray | None = None
    """How many rows ahead each of them asks about, where they differ in that."""


def weighed(candidates: Sequence[Parts], problem: Problem, seed: int) -> Weighed:
    """Weights on the rows that all judged; once more on the rows of those that are left, when these are more.

    In time order the latest fold alone decides: earlier ones learned from less, about times that are over.

    Raises InvalidInput `nothing_in_common` where no row was judged by all.
    """
    left = [candidate for candidate in candidates if len(candidate.rows)]
    while True:
        rows = _common(left)
        judged = _judged(left, rows, problem)
        fold = left[0].oof.loc[rows, "fold"].to_numpy().round().astype(int)
        asked = np.flatnonzero(fold == fold.max()) if problem.time_column else np.arange(len(rows))
        weights = weigh(judged.take(asked), problem, seed)
        kept = [candidate for candidate, weight in zip(left, weights, strict=True) if weight > 0]
        if len(kept) == len(left) or len(_common(kept)) == len(rows):
            break
        left = kept
    heavy = np.flatnonzero(weights > 0)
    return Weighed(
        {left[place].name: float(weights[place]) for place in heavy},
        judged.mixed(weights),
        rows,
        fold,
        judged,
        left[0].oof.loc[rows, ROWS_AHEAD].to_numpy() if ROWS_AHEAD in left[0].oof else None,
    )


def _common(candidates: Sequence[Parts]) -> np.ndarray:
    rows = candidates[0].rows if candidates else np.zeros(0, dtype=int)
    for candidate in candidates[1:]:
        rows = np.intersect1d(rows, candidate.rows, assume_unique=True)
    if not len(rows):
        raise InvalidInput("nothing_in_common", "There is no row that all candidates were judged by.")
    return rows


def _judged(candidates: Sequence[Parts], rows: np.ndarray, problem: Problem) -> Judged:
    outputs = np.stack([output_columns(candidate.oof.loc[rows], problem) for candidate in candidates])
    return Judged(candidates[0].oof.loc[rows, "truth"].to_numpy(), outputs)


def output_columns(oof: pd.DataFrame, problem: Problem) -> np.ndarray:
    """The outputs of an oof.parquet: (rows, classes) or (rows,)."""
    if not problem.is_classification:
        return oof["prediction"].to_numpy(dtype="float64")
    return oof[[f"p_{place}" for place in range(len(problem.classes or ()))]].to_numpy(dtype="float64")


def scores_by_fold(
    truth: np.ndarray, output: np.ndarray, fold: np.ndarray, problem: Problem
) -> dict[int, dict[str, float | None]]:
    """Every metric of each fold among these rows."""
    return {
        int(number): score_all(
            Predicted(truth[fold == number], output[fold == number], problem.positive_index), problem
        )
        for number in np.unique(fold)
    }


def parts_for_judging(fold: np.ndarray, in_order: bool, seed: int) -> np.ndarray:
    """Parts of rows for cross-fitted weights: folds where there are three, else five draws of rows.

    In time order five stretches of the latest fold; earlier ones have no say.
    """
    if in_order:
        latest = np.flatnonzero(fold == fold.max())
        parts = np.full(len(fold), NO_SAY)
        parts[latest] = np.arange(len(latest)) * 5 // len(latest)
        return parts
    if len(np.unique(fold)) >= 3:
        return fold
    return np.random.default_rng(seed).permutation(np.arange(len(fold)) * 5 // len(fold))


def short(parts: Parts, fits: Sequence[Facts], metric: str) -> dict[str, Any]:
    """A candidate in short, its parts taken together."""
    own = [fits[place] for place in parts.places]
    by_fold = [
        next((score for score in scores if score is not None), None)
        for scores in zip(*(fit["fold_scores"] for fit in own), strict=True)
    ]
    known = [{metric: score} for score in by_fold if score is not None]
    return {
        "name": parts.name,
        "estimator": own[0]["estimator"],
        "hyperparameters": own[0]["hyperparameters"],
        "recipe": own[0]["recipe"],
        "settings": own[0]["settings"],
        "score": over_folds(known, metric, np.mean) if known else None,
        "std": over_folds(known, metric, lambda s: np.std(s, ddof=1)) if len(known) > 1 else None,
        "fold_scores": by_fold,
        "fold_count": len(known),
        "fit_s": round(sum(float(fit["fit_s"]) for fit in own), 3),
        "limited": next((fit["limited"] for fit in own if fit.get("limited")), None),
    }
