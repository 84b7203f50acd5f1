"""Fitted parts of candidates -> one model, what it says of rows it did not learn from, and its facts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from app.modeling.problem.kinds import ENSEMBLE
from app.modeling.problem.problem import Problem
from app.modeling.recipe.forecast_origins import ROWS_AHEAD
from app.modeling.scoring.postprocess import postprocess
from app.modeling.training.cross_validation import summary_of
from app.modeling.training.ensemble.average import Model, average, features_of
from app.modeling.training.ensemble.merging import (
    Facts,
    Parts,
    Weighed,
    merged,
    parts_for_judging,
    scores_by_fold,
    short,
    weighed,
)
from app.modeling.training.ensemble.weights import cross_fitted


@dataclass(frozen=True)
class Blended:
    """`oof`: as oof.parquet. `facts`: the keys of `results.FitFacts` that follow from the parts."""

    model: Model
    oof: pd.DataFrame
    facts: dict[str, Any]


def blend(
    fits: Sequence[Facts],
    oofs: Sequence[pd.DataFrame],
    open_model: Callable[[int], Model],
    problem: Problem,
    seed: int = 0,
) -> Blended:
    """`open_model(place)` loads the model of an input; only those with a weight are asked for."""
    candidates = merged(fits, oofs)
    found = weighed(candidates, problem, seed)
    in_order = problem.time_column is not None
    output = found.average
    if len(found.weights) > 1:
        output = cross_fitted(found.judged, parts_for_judging(found.fold, in_order, seed), problem, seed)
    shares = _shares(fits, candidates, found.weights)
    model = average([(open_model(place), share) for place, share in enumerate(shares) if share > 0], problem)
    by_fold = scores_by_fold(found.judged.truth, output, found.fold, problem)
    summary = summary_of(list(by_fold.values()))
    facts = {
        "estimator": _estimator(fits, found),
        "hyperparameters": {},
        "recipe": fits[0]["recipe"],
        "score": summary[problem.metric]["mean"],
        "std": summary[problem.metric]["std"],
        "fold_scores": [
            by_fold[number][problem.metric] if number in by_fold else None
            for number in range(len(fits[0]["fold_scores"]))
        ],
        "metrics": summary,
        **postprocess(found.judged.truth, output, found.fold, problem, seed, found.ahead),
        "rows": fits[0]["rows"],
        "features": features_of(model),
        "fold_s": [],
        "run": sorted(by_fold),
        "settings": {},
        "fold_count": len(by_fold),
        "limited": None,
        "schema": fits[0].get("schema", []),
        "weights": {name: round(weight, 4) for name, weight in found.weights.items()},
        "members": [
            {"name": fit["name"], "run": fit["run"], "weight": round(share, 6)}
            for fit, share in zip(fits, shares, strict=True)
        ],
        "candidates": [short(candidate, fits, problem.metric) for candidate in candidates],
    }
    oof = out_of_fold(found.rows, found.fold, found.judged.truth, output, found.ahead)
    return Blended(model, oof, facts)


def _estimator(fits: Sequence[Facts], found: Weighed) -> str:
    """One candidate alone is of its estimator still."""
    kinds = {fit["estimator"] for fit in fits if fit["name"] in found.weights}
    return kinds.pop() if len(found.weights) == 1 else ENSEMBLE


def _shares(fits: Sequence[Facts], candidates: Sequence[Parts], weights: dict[str, float]) -> list[float]:
    """Each input's share: a candidate's weight goes to its fold models alike, or to its fit on all rows."""
    shares = np.zeros(len(fits))
    for candidate in candidates:
        counts = {place: len(fits[place]["run"]) for place in candidate.places}
        on_all = [place for place, count in counts.items() if count == 0]
        if on_all:
            counts = {on_all[-1]: 1}
        total = sum(counts.values())
        for place, count in counts.items():
            shares[place] = weights.get(candidate.name, 0.0) * count / total
    return [float(share) for share in shares]


def out_of_fold(
    rows: np.ndarray, fold: np.ndarray, truth: np.ndarray, output: np.ndarray, ahead: np.ndarray | None = None
) -> pd.DataFrame:
    """`row`, `fold`, `truth` and `p_<place>` or `prediction`, as oof.parquet holds them; `rows_ahead` where
    each row asks about a step of its own."""
    columns: dict[str, Any] = {"row": rows, "fold": fold, "truth": truth}
    if ahead is not None:
        columns[ROWS_AHEAD] = ahead
    if output.ndim == 2:
        columns |= {f"p_{place}": output[:, place] for place in range(output.shape[1])}
    else:
        columns["prediction"] = output
    return pd.DataFrame(columns)
