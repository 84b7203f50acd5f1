"""The model to explain, as a function from raw rows to predictions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import RecipeJson, parse_recipe

Predict = Callable[[pd.DataFrame], np.ndarray]
"""Raw rows -> probabilities of every class (rows, classes), or numbers (rows,)."""

MAX_BATCH_ROWS = 40_000
"""Rows of one prediction call: enough to spread the cost of a call, few enough for any memory."""
MAX_BATCH_CELLS = 4_000_000
"""Rows times columns of one prediction call: 32 MB as float64."""


@dataclass(frozen=True)
class ExplainedModel:
    """The model to explain. `keeps_order`: predictions depend on earlier rows, so rows must stay together
    and in order."""

    predict: Predict
    problem: Problem
    keeps_order: bool = False

    def sample(self, rows: int, max_rows: int, seed: int) -> np.ndarray:
        """Positions of at most `max_rows` rows: drawn at random, or the first ones if order matters."""
        if rows <= max_rows:
            return np.arange(rows)
        if self.keeps_order:
            return np.arange(max_rows)
        return np.sort(np.random.default_rng(seed).permutation(rows)[:max_rows])

    def predict_frames(self, frames: Sequence[pd.DataFrame]) -> list[np.ndarray]:
        """Predict each frame (all with the same columns), in few calls."""
        # Frames in one call would be each other's past.
        # Frames in one call would be each other's past.
        if self.keeps_order:
            return [self.predict(frame) for frame in frames]
        outputs: list[np.ndarray] = []
        for batch in _combine_frames(frames):
            combined = self.predict(pd.concat(batch, ignore_index=True))
            outputs += np.split(combined, np.cumsum([len(frame) for frame in batch])[:-1])
        return outputs


def looks_back(recipe: RecipeJson) -> bool:
    """Return true if features depend on earlier rows (lags, rolling statistics)."""
    return any(step.needs_order for step in parse_recipe(recipe))


def _combine_frames(frames: Sequence[pd.DataFrame]) -> list[list[pd.DataFrame]]:
    batches: list[list[pd.DataFrame]] = []
    rows_left = 0
    for frame in frames:
        if not batches or len(frame) > rows_left:
            batches.append([])
            rows_left = max(min(MAX_BATCH_ROWS, MAX_BATCH_CELLS // max(frame.shape[1], 1)), len(frame))
        batches[-1].append(frame)
        rows_left -= len(frame)
    return batches
