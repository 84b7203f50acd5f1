"""How much each candidate's word counts: greedy selection on out-of-fold rows (Caruana et al., 2004).

Candidates are added one at a time, again and again, whichever helps the average most. That is done on several
draws of the rows and averaged, so that few rows do not decide alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.modeling.problem.metrics import METRICS
from app.modeling.problem.problem import Problem
from app.modeling.scoring.scores import SCORERS, Predicted

STEPS = 25
DRAWS = 6
MAX_ROWS = 4000
"""Rows of one draw."""
NO_SAY = -1
"""The part of rows that weights do not follow."""

SMALLEST = 0.04
"""A smaller share than this is not worth a model."""

_BY_LOG_LOSS = frozenset({"accuracy", "balanced_accuracy", "f1", "precision", "recall", "mcc", "cohen_kappa"})
_BY_LOG_LOSS |= {"cost", "top_3_accuracy"}
"""Metrics that only see which class is chosen: too coarse to weigh by."""


@dataclass(frozen=True)
class Judged:
    """`truth` (rows,) and what each candidate says, (candidates, rows) or (candidates, rows, classes)."""

    truth: np.ndarray
    outputs: np.ndarray

    def take(self, rows: np.ndarray) -> "Judged":
        return Judged(self.truth[rows], self.outputs[:, rows])

    def mixed(self, weights: np.ndarray) -> np.ndarray:
        mixed: np.ndarray = np.tensordot(weights, self.outputs, axes=1)
        return mixed


def weigh(judged: Judged, problem: Problem, seed: int = 0, draws: int = DRAWS) -> np.ndarray:
    """Weights of the candidates: none negative, together 1."""
    count, rows = judged.outputs.shape[:2]
    if count == 1:
        return np.ones(1)
    rng = np.random.default_rng(seed)
    total = np.zeros(count)
    for _ in range(draws):
        total += _greedy(judged.take(rng.choice(rows, min(rows, MAX_ROWS))), problem)
    weights = total / total.sum()
    weights[weights < min(SMALLEST, weights.max())] = 0.0
    scaled: np.ndarray = weights / weights.sum()
    return scaled


def cross_fitted(judged: Judged, parts: np.ndarray, problem: Problem, seed: int = 0) -> np.ndarray:
    """What the average says of each row with weights that the row's own part had no say in.

    Rows of part `NO_SAY` have none at all, and are judged by the weights of all others.
    """
    said = np.empty(judged.outputs.shape[1:])
    for part in np.unique(parts):
        inside = parts == part
        asked = np.flatnonzero(~inside & (parts != NO_SAY))
        if not len(asked):
            raise ValueError("Weights can be judged only where rows are in two parts or more.")
        weights = weigh(judged.take(asked), problem, seed, draws=2)
        said[inside] = judged.take(np.flatnonzero(inside)).mixed(weights)
    return said


def _greedy(judged: Judged, problem: Problem) -> np.ndarray:
    """Shares of the best average on the way of `STEPS` additions."""
    count = len(judged.outputs)
    chosen = np.zeros(count)
    total = np.zeros_like(judged.outputs[0])
    best, best_shares = np.inf, np.ones(count) / count
    for step in range(STEPS):
        losses = [_loss(judged.truth, (total + output) / (step + 1), problem) for output in judged.outputs]
        place = int(np.argmin(losses))
        chosen[place] += 1
        total = total + judged.outputs[place]
        if losses[place] < best - 1e-12:
            best, best_shares = losses[place], chosen / chosen.sum()
    return best_shares


def _loss(truth: np.ndarray, output: np.ndarray, problem: Problem) -> float:
    metric = "log_loss" if problem.metric in _BY_LOG_LOSS else problem.metric
    value = SCORERS[metric](Predicted(truth, output, problem.positive_index))
    if not np.isfinite(value):
        return float("inf")
    return -value if METRICS[metric].greater_is_better else value


def order_of(weights: Sequence[float]) -> list[int]:
    """Places with a weight, the heaviest first."""
    return [place for place in np.argsort(-np.asarray(weights), kind="stable").tolist() if weights[place] > 0]
