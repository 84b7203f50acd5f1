"""Ensembles: the weighted model of fitted candidates, its out-of-fold predictions and its facts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from app.modeling.facts.fits import CandidateFit
from app.modeling.problem.kinds import ENSEMBLE
from app.modeling.problem.problem import Problem
from app.modeling.recipe.forecast_origins import ROWS_AHEAD
from app.modeling.scoring.postprocess import postprocess
from app.modeling.training.blending.merging import (
    CandidateParts,
    WeightedCandidates,
    assign_weight_folds,
    merge_parts,
    summarize_candidate,
    weight_candidates,
)
from app.modeling.training.cross_validation import score_by_fold, summarize_folds
from app.modeling.training.ensemble.average import Model, average_models, count_features
from app.modeling.training.ensemble.weights import predict_cross_fitted


@dataclass(frozen=True)
class BlendResult:
    """An ensemble. `oof`: as oof.parquet. `facts`: the keys of `FitFacts` that follow from its members."""

    model: Model
    oof: pd.DataFrame
    facts: dict[str, Any]


def blend_candidates(
    fits: Sequence[CandidateFit],
    oofs: Sequence[pd.DataFrame],
    open_model: Callable[[int], Model],
    problem: Problem,
    seed: int = 0,
) -> BlendResult:
    """Blend candidates; `open_model(position)` loads the model of an input, only for inputs with a weight."""
    candidates = merge_parts(fits, oofs)
    weighted = weight_candidates(candidates, problem, seed)
    time_ordered = problem.time_column is not None
    output = weighted.average
    # A score on the rows that chose the weights would be too good; a single candidate chose none.
    if len(weighted.weights) > 1:
        output = predict_cross_fitted(
            weighted.judged, assign_weight_folds(weighted.fold, time_ordered, seed), problem, seed
        )
    shares = _shares(fits, candidates, weighted.weights)
    model = average_models(
        [(open_model(place), share) for place, share in enumerate(shares) if share > 0], problem
    )
    by_fold = score_by_fold(weighted.judged.truth, output, weighted.fold, problem)
    summary = summarize_folds(list(by_fold.values()))
    facts = {
        "estimator": _estimator(fits, weighted),
        "hyperparameters": {},
        "recipe": fits[0].recipe,
        "score": summary[problem.metric]["mean"],
        "std": summary[problem.metric]["std"],
        "fold_scores": [
            by_fold[number][problem.metric] if number in by_fold else None
            for number in range(len(fits[0].fold_scores))
        ],
        "metrics": summary,
        **postprocess(weighted.judged.truth, output, weighted.fold, problem, seed, weighted.ahead),
        "rows": fits[0].rows,
        "features": count_features(model),
        "fold_s": [],
        "run": sorted(by_fold),
        "settings": {},
        "fold_count": len(by_fold),
        "limited": None,
        "schema": list(fits[0].schema),
        "weights": {name: round(weight, 4) for name, weight in weighted.weights.items()},
        "members": [
            {"name": fit.name, "run": fit.run, "weight": round(share, 6)}
            for fit, share in zip(fits, shares, strict=True)
        ],
        "candidates": [summarize_candidate(candidate, fits, problem.metric) for candidate in candidates],
    }
    oof = make_oof_table(weighted.rows, weighted.fold, weighted.judged.truth, output, weighted.ahead)
    return BlendResult(model, oof, facts)


def _estimator(fits: Sequence[CandidateFit], weighted: WeightedCandidates) -> str:
    """The estimator of the ensemble's only candidate, else `ENSEMBLE`."""
    kinds = {fit.estimator for fit in fits if fit.name in weighted.weights}
    return kinds.pop() if len(weighted.weights) == 1 else ENSEMBLE


def _shares(
    fits: Sequence[CandidateFit], candidates: Sequence[CandidateParts], weights: dict[str, float]
) -> list[float]:
    """The share of each input: a candidate's weight goes equally to its fold models, or to its fit on all
    rows."""
    shares = np.zeros(len(fits))
    for candidate in candidates:
        counts = {position: len(fits[position].fitted_folds) for position in candidate.part_indices}
        full_fits = [position for position, count in counts.items() if count == 0]
        # A fit on all rows has learned more than the models of folds, and replaces them.
        if full_fits:
            counts = {full_fits[-1]: 1}
        total = sum(counts.values())
        for position, count in counts.items():
            shares[position] = weights.get(candidate.name, 0.0) * count / total
    return [float(share) for share in shares]


def make_oof_table(
    rows: np.ndarray, fold: np.ndarray, truth: np.ndarray, output: np.ndarray, ahead: np.ndarray | None = None
) -> pd.DataFrame:
    """Make a table of `row`, `fold`, `truth` and `p_<class>` or `prediction`, as in oof.parquet;
    `rows_ahead` is added if rows are expanded by step."""
    columns: dict[str, Any] = {"row": rows, "fold": fold, "truth": truth}
    if ahead is not None:
        columns[ROWS_AHEAD] = ahead
    if output.ndim == 2:
        columns |= {f"p_{place}": output[:, place] for place in range(output.shape[1])}
    else:
        columns["prediction"] = output
    return pd.DataFrame(columns)
