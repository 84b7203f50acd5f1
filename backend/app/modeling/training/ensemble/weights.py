"""Ensemble weights by greedy selection on out-of-fold rows (Caruana et al., 2004).

Candidates are added one at a time, with repetition, each time the one that improves the average most. This is
done on several random draws of the rows and averaged, so that a few rows do not decide alone.
"""

from dataclasses import dataclass

import numpy as np

from app.modeling.problem.metrics import METRICS
from app.modeling.problem.problem import Problem
from app.modeling.scoring.scores import SCORERS, Predicted

STEPS = 25
"""Additions per draw, so that a weight is a multiple of 4%."""
DRAWS = 6
"""Random draws that are averaged."""
MAX_ROWS = 4000
"""Rows of one draw: time grows with rows, steps and candidates."""
UNWEIGHTED = -1
"""The part of rows that weights are not chosen on."""

MIN_WEIGHT = 0.04
"""One step's worth: a smaller share does not pay for storing and running a model."""

_BY_LOG_LOSS = frozenset(metric.name for metric in METRICS.values() if metric.by_choice)
"""Metrics that only depend on the predicted class: too coarse to choose weights by."""


@dataclass(frozen=True)
class CandidatePredictions:
    """`truth` (rows,) and the candidates' predictions, (candidates, rows) or (candidates, rows, classes)."""

    truth: np.ndarray
    outputs: np.ndarray

    def select_rows(self, rows: np.ndarray) -> "CandidatePredictions":
        return CandidatePredictions(self.truth[rows], self.outputs[:, rows])

    def weighted_average(self, weights: np.ndarray) -> np.ndarray:
        averaged: np.ndarray = np.tensordot(weights, self.outputs, axes=1)
        return averaged


def choose_weights(
    judged: CandidatePredictions, problem: Problem, seed: int = 0, draws: int = DRAWS
) -> np.ndarray:
    """Choose the weights of the candidates: none negative, sum 1."""
    count, rows = judged.outputs.shape[:2]
    if count == 1:
        return np.ones(1)
    rng = np.random.default_rng(seed)
    total = np.zeros(count)
    for _ in range(draws):
        total += _select_greedily(judged.select_rows(rng.choice(rows, min(rows, MAX_ROWS))), problem)
    weights = total / total.sum()
    # Of many equal candidates all may lie below the least weight, and then the heaviest ones stay.
    weights[weights < min(MIN_WEIGHT, weights.max())] = 0.0
    scaled: np.ndarray = weights / weights.sum()
    return scaled


def predict_cross_fitted(
    judged: CandidatePredictions, parts: np.ndarray, problem: Problem, seed: int = 0
) -> np.ndarray:
    """Average the predictions of each part of the rows with weights chosen on the other parts.

    Rows of part `UNWEIGHTED` are never used to choose weights.
    """
    predictions = np.empty(judged.outputs.shape[1:])
    for part in np.unique(parts):
        inside = parts == part
        other_rows = np.flatnonzero(~inside & (parts != UNWEIGHTED))
        if not len(other_rows):
            raise ValueError("Cross-fitted weights need rows in two parts or more.")
        weights = choose_weights(judged.select_rows(other_rows), problem, seed, draws=2)
        predictions[inside] = judged.select_rows(np.flatnonzero(inside)).weighted_average(weights)
    return predictions


def _select_greedily(judged: CandidatePredictions, problem: Problem) -> np.ndarray:
    """Shares of the candidates in the best average during `STEPS` additions."""
    count = len(judged.outputs)
    counts = np.zeros(count)
    total = np.zeros_like(judged.outputs[0])
    best, best_shares = np.inf, np.ones(count) / count
    for step in range(STEPS):
        losses = [_loss(judged.truth, (total + output) / (step + 1), problem) for output in judged.outputs]
        index = int(np.argmin(losses))
        counts[index] += 1
        total = total + judged.outputs[index]
        # A gain that is only rounding must not add a model that has to be stored and run.
        if losses[index] < best - 1e-12:
            best, best_shares = losses[index], counts / counts.sum()
    return best_shares


def _loss(truth: np.ndarray, output: np.ndarray, problem: Problem) -> float:
    metric = "log_loss" if problem.metric in _BY_LOG_LOSS else problem.metric
    value = SCORERS[metric](Predicted(truth, output, problem.positive_index))
    if not np.isfinite(value):
        return float("inf")
    return -value if METRICS[metric].greater_is_better else value
