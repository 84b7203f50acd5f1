"""Scores of predictions on held-out test rows, with bootstrap standard errors."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from benchmarks.quality.run_folders import Json
from sklearn.metrics import log_loss, mean_absolute_error, roc_auc_score, root_mean_squared_error

GREATER_IS_BETTER = {"roc_auc": True, "log_loss": False, "rmse": False, "mae": False}
RESAMPLE_COUNT = 200
"""Bootstrap resamples of the test rows: enough for a standard error to within 5 %."""
_MIN_PROBABILITY = 1e-7
"""Lower bound of a class's probability, so that one confident mistake does not make the log loss infinite."""
_MIN_UNITS = 5
"""Moments or groups below which a bootstrap of them estimates no standard error."""


@dataclass(frozen=True)
class BootstrapScore:
    """A score with its standard error, by bootstrap over the independent units of the test rows.

    `resampled_scores`: one score for each resample, of the same rows for each contender, so that differences
    are paired.
    """

    score: float
    standard_error: float
    resampled_scores: list[float]


def score_predictions(table: Path, predictions: pd.DataFrame, facts: Json) -> BootstrapScore:
    """Score predictions in the order of test.csv; raises ValueError if rows or values do not fit."""
    truth = pd.read_csv(table / "truth.csv", dtype=str, keep_default_na=False)
    if len(predictions) != len(truth):
        raise ValueError(f"{len(predictions)} predictions for {len(truth)} rows")
    labels, predicted = _align_classes(truth.loc[:, facts["target"]], predictions, facts["kind"])
    if not np.isfinite(predicted).all():
        raise ValueError("some predictions are not finite")
    rng = np.random.default_rng(1)
    units = _independent_units(truth, facts)
    resampled_scores = [
        _score(facts["metric"], labels[rows], predicted[rows]) for rows in _block_resamples(units, facts, rng)
    ]
    return BootstrapScore(
        _score(facts["metric"], labels, predicted), float(np.nanstd(resampled_scores, ddof=1)), resampled_scores
    )


def _align_classes(truth: pd.Series, predictions: pd.DataFrame, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and predictions: numbers, or class codes and a column of probabilities for each class."""
    if kind == "regression":
        return truth.astype(float).to_numpy(), predictions["prediction"].to_numpy(float)
    classes = sorted({*truth, *predictions.columns})
    probabilities = predictions.reindex(columns=classes, fill_value=0.0).to_numpy(float)
    probabilities = np.clip(probabilities, _MIN_PROBABILITY, None)
    return pd.Categorical(truth, classes).codes, probabilities / probabilities.sum(axis=1, keepdims=True)


def _score(metric: str, labels: np.ndarray, predicted: np.ndarray) -> float:
    if metric == "rmse":
        return float(root_mean_squared_error(labels, predicted))
    if metric == "mae":
        return float(mean_absolute_error(labels, predicted))
    if metric == "log_loss":
        return float(log_loss(labels, predicted, labels=range(predicted.shape[1])))
    if len(np.unique(labels)) < 2:
        return math.nan
    return float(roc_auc_score(labels == 1, predicted[:, 1]))


def _independent_units(truth: pd.DataFrame, facts: Json) -> list[np.ndarray]:
    """Row numbers of each independent unit: a moment, a group, or else a single row.

    Rows are units too where there are too few moments or groups: resamples of a single year have no variance.
    """
    if facts["by"] is None:
        return list(np.arange(len(truth))[:, None])
    units = [np.asarray(rows) for rows in truth.groupby(facts["by"], sort=True).indices.values()]
    return units if len(units) >= _MIN_UNITS else list(np.arange(len(truth))[:, None])


def _block_resamples(units: list[np.ndarray], facts: Json, rng: np.random.Generator) -> list[np.ndarray]:
    """Bootstrap resamples of row numbers; rows in time order by blocks of neighbouring moments."""
    unit_count = len(units)
    block_length = math.ceil(unit_count ** (1 / 3)) if facts["cut"] == "latest" else 1
    resamples = []
    for _ in range(RESAMPLE_COUNT):
        starts = rng.integers(0, unit_count - block_length + 1, math.ceil(unit_count / block_length))
        positions = (starts[:, None] + np.arange(block_length)).ravel()[:unit_count]
        resamples.append(np.concatenate([units[position] for position in positions]))
    return resamples
