"""A fitted model as whoever explains it sees it: rows in, answers out, and what an answer costs."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import RecipeJson, parse_recipe

Say = Callable[[pd.DataFrame], np.ndarray]
"""Raw rows -> probabilities of every class (rows, classes), or numbers (rows,)."""

MAX_TOGETHER = 40_000
"""Rows that are asked about in one call: enough to spread the cost of a call, few enough for any memory."""
MAX_CELLS = 4_000_000


@dataclass
class Deadline:
    """Seconds that may be spent from now on; None is as many as it takes."""

    limit_s: float | None
    now: Callable[[], float] = time.perf_counter
    began: float = field(init=False)

    def __post_init__(self) -> None:
        self.began = self.now()

    @property
    def spent_s(self) -> float:
        return self.now() - self.began

    @property
    def left_s(self) -> float:
        return float("inf") if self.limit_s is None else self.limit_s - self.spent_s

    @property
    def is_over(self) -> bool:
        return self.left_s <= 0

    def within(self, share: float) -> "Deadline":
        """A deadline of its own over this share of what is left."""
        limit_s = None if self.limit_s is None else max(share * self.left_s, 0.0)
        return Deadline(limit_s, self.now)


@dataclass(frozen=True)
class Subject:
    """`in_order`: answers lean on the rows before, so rows stay together and in their order."""

    say: Say
    problem: Problem
    in_order: bool = False

    def sample(self, rows: int, most: int, seed: int) -> np.ndarray:
        """Places of at most `most` of so many rows: drawn at random, or the first where order matters."""
        if rows <= most:
            return np.arange(rows)
        if self.in_order:
            return np.arange(most)
        return np.sort(np.random.default_rng(seed).permutation(rows)[:most])

    def say_all(self, frames: Sequence[pd.DataFrame]) -> list[np.ndarray]:
        """What it says of each frame (alike in columns), in few calls."""
        if self.in_order:
            return [self.say(frame) for frame in frames]
        said: list[np.ndarray] = []
        for batch in _batches(frames):
            together = self.say(pd.concat(batch, ignore_index=True))
            said += np.split(together, np.cumsum([len(frame) for frame in batch])[:-1])
        return said


def looks_back(recipe: RecipeJson) -> bool:
    """Whether features are made of the rows before (lags, rolling statistics)."""
    return any(step.needs_order for step in parse_recipe(recipe))


def _batches(frames: Sequence[pd.DataFrame]) -> list[list[pd.DataFrame]]:
    made: list[list[pd.DataFrame]] = []
    room = 0
    for frame in frames:
        if not made or len(frame) > room:
            made.append([])
            room = max(min(MAX_TOGETHER, MAX_CELLS // max(frame.shape[1], 1)), len(frame))
        made[-1].append(frame)
        room -= len(frame)
    return made
