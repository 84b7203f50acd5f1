"""Scores of predictions of rows that no contender ever saw, and how sure those are."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from benchmarks.quality.home import Json
from sklearn.metrics import log_loss, mean_absolute_error, roc_auc_score, root_mean_squared_error

GREATER_IS_BETTER = {"roc_auc": True, "log_loss": False, "rmse": False, "mae": False}
RESAMPLES = 200
_MIN_SHARE = 1e-7
_MIN_UNITS = 5
"""Moments or groups below which a bootstrap of them says nothing."""


@dataclass(frozen=True)
class Judged:
    """`error` is the score's standard error, by bootstrap over what is independent in the test rows.

    `draws`: the scores of the resamples, the same rows for each contender, so that differences are paired.
    """

    score: float
    error: float
    draws: list[float]


def judge(table: Path, prediction: pd.DataFrame, facts: Json) -> Judged:
    """`prediction`: as a contender leaves it, rows as in test.csv; raises ValueError when it does not fit."""
    truth = pd.read_csv(table / "truth.csv", dtype=str, keep_default_na=False)
    if len(prediction) != len(truth):
        raise ValueError(f"{len(prediction)} predictions for {len(truth)} rows")
    labels, said = _aligned(truth.loc[:, facts["target"]], prediction, facts["kind"])
    if not np.isfinite(said).all():
        raise ValueError("some predictions are no numbers")
    rng = np.random.default_rng(1)
    members = _independent(truth, facts)
    drawn = [_score(facts["metric"], labels[rows], said[rows]) for rows in _draws(members, facts, rng)]
    return Judged(_score(facts["metric"], labels, said), float(np.nanstd(drawn, ddof=1)), drawn)


def _aligned(truth: pd.Series, prediction: pd.DataFrame, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Numbers, or places of classes and one column of probability for each."""
    if kind == "regression":
        return truth.astype(float).to_numpy(), prediction["prediction"].to_numpy(float)
    classes = sorted({*truth, *prediction.columns})
    shares = prediction.reindex(columns=classes, fill_value=0.0).to_numpy(float)
    shares = np.clip(shares, _MIN_SHARE, None)
    return pd.Categorical(truth, classes).codes, shares / shares.sum(axis=1, keepdims=True)


def _score(metric: str, labels: np.ndarray, said: np.ndarray) -> float:
    if metric == "rmse":
        return float(root_mean_squared_error(labels, said))
    if metric == "mae":
        return float(mean_absolute_error(labels, said))
    if metric == "log_loss":
        return float(log_loss(labels, said, labels=range(said.shape[1])))
    if len(np.unique(labels)) < 2:
        return math.nan
    return float(roc_auc_score(labels == 1, said[:, 1]))


def _independent(truth: pd.DataFrame, facts: Json) -> list[np.ndarray]:
    """Row numbers that belong together: a moment's, a group's, else each row alone.

    Rows are alone too where there are too few moments or groups: one year, drawn again and again, had no error.
    """
    if facts["by"] is None:
        return list(np.arange(len(truth))[:, None])
    units = [np.asarray(rows) for rows in truth.groupby(facts["by"], sort=True).indices.values()]
    return units if len(units) >= _MIN_UNITS else list(np.arange(len(truth))[:, None])


def _draws(members: list[np.ndarray], facts: Json, rng: np.random.Generator) -> list[np.ndarray]:
    """Resamples of rows; in time order, blocks of neighbouring moments."""
    count = len(members)
    length = math.ceil(count ** (1 / 3)) if facts["cut"] == "latest" else 1
    draws = []
    for _ in range(RESAMPLES):
        starts = rng.integers(0, count - length + 1, math.ceil(count / length))
        places = (starts[:, None] + np.arange(length)).ravel()[:count]
        draws.append(np.concatenate([members[place] for place in places]))
    return draws
