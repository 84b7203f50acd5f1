"""Rows cut into pieces whose features fit into memory, each with the rows before it that it looks back on."""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from app.modeling.recipe.forecast_origins import ROWS_AHEAD
from app.modeling.recipe.recipe import Recipe
from app.modeling.training.ensemble.average import Model, recipes_of

MAX_CELLS = 10_000_000
"""Rows times features that are computed at a time: some hundred megabytes."""


def in_pieces(model: Model, rows: pd.DataFrame, say: Callable[[pd.DataFrame], np.ndarray]) -> np.ndarray:
    """What `say` says of all rows (rows, ...), piece by piece where they are many."""
    recipes = recipes_of(model)
    size = max(MAX_CELLS // max(len(recipe.columns_out_) for recipe in recipes), 1_000)
    if len(rows) <= size or ROWS_AHEAD in rows:
        return say(rows)
    deepest = max(recipes, key=lambda recipe: recipe.history_rows)
    said, places = [], []
    for before, asked in _cut(deepest, rows, size):
        said.append(say(rows.iloc[np.concatenate([before, asked])])[len(before) :])
        places.append(asked)
    made = np.concatenate(said)
    answers = np.empty_like(made)
    answers[np.concatenate(places)] = made
    return answers


def _cut(recipe: Recipe, rows: pd.DataFrame, size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Positions of the rows that come before a piece, and of its own; rows of one time stay together."""
    if not recipe.history_rows or recipe.time_column is None:
        for start in range(0, len(rows), size):
            yield np.arange(0), np.arange(start, min(start + size, len(rows)))
        return
    ordered, groups = recipe.sort_rows(rows.reset_index(drop=True))
    order, times = ordered.index.to_numpy(), ordered[recipe.time_column].to_numpy()
    start = 0
    while start < len(order):
        last = min(start + size, len(order)) - 1
        end = int(np.searchsorted(times, times[last], side="right"))
        before = _latest(order[:start], None if groups is None else groups.iloc[:start], recipe.history_rows)
        yield before, order[start:end]
        start = end


def _latest(order: np.ndarray, groups: pd.Series | None, depth: int) -> np.ndarray:
    """The last positions of each group, in their order."""
    if groups is None:
        return order[-depth:]
    last: np.ndarray = pd.Series(order).groupby(groups.to_numpy(), sort=False).tail(depth).to_numpy()
    return last
