"""Prediction in chunks whose features fit into memory, each with the earlier rows that its features need."""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from app.modeling.recipe.forecast_origins import ROWS_AHEAD
from app.modeling.recipe.recipe import Recipe
from app.modeling.training.ensemble.average import Model, list_recipes

MAX_CELLS = 10_000_000
"""Rows times features computed at a time: 80 MB as float64, a few hundred with copies."""


def predict_in_chunks(
    model: Model, rows: pd.DataFrame, predict: Callable[[pd.DataFrame], np.ndarray]
) -> np.ndarray:
    """Apply `predict` to all rows (rows, ...), in chunks if there are many."""
    recipes = list_recipes(model)
    size = max(MAX_CELLS // max(len(recipe.columns_out_) for recipe in recipes), 1_000)
    if len(rows) <= size or ROWS_AHEAD in rows:
        return predict(rows)
    # Context for the deepest recipe is enough for every other member.
    deepest = max(recipes, key=lambda recipe: recipe.history_rows)
    chunks, positions = [], []
    for context, rows_of_chunk in _iterate_chunks(deepest, rows, size):
        chunks.append(predict(rows.iloc[np.concatenate([context, rows_of_chunk])])[len(context) :])
        positions.append(rows_of_chunk)
    predictions = np.concatenate(chunks)
    ordered = np.empty_like(predictions)
    ordered[np.concatenate(positions)] = predictions
    return ordered


def _iterate_chunks(recipe: Recipe, rows: pd.DataFrame, size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the positions of the context rows before a chunk and of its own rows; rows of one time stay
    together."""
    if not recipe.history_rows or recipe.time_column is None:
        for start in range(0, len(rows), size):
            yield np.arange(0), np.arange(start, min(start + size, len(rows)))
        return
    ordered, groups = recipe.sort_rows(rows.reset_index(drop=True))
    order, times = ordered.index.to_numpy(), ordered[recipe.time_column].to_numpy()
    start = 0
    while start < len(order):
        last = min(start + size, len(order)) - 1
        # A mean over other series at the same moment needs all rows of that moment.
        end = int(np.searchsorted(times, times[last], side="right"))
        context = _latest_rows(
            order[:start], None if groups is None else groups.iloc[:start], recipe.history_rows
        )
        yield context, order[start:end]
        start = end


def _latest_rows(order: np.ndarray, groups: pd.Series | None, depth: int) -> np.ndarray:
    """The last `depth` positions of each group, in order."""
    if groups is None:
        return order[-depth:]
    last: np.ndarray = pd.Series(order).groupby(groups.to_numpy(), sort=False).tail(depth).to_numpy()
    return last
