"""A task: a public table, its target, metric and split."""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
from benchmarks.quality.tables.splits import TrainTestSplit


@dataclass(frozen=True)
class Table:
    """`load` gives all rows as a user would upload them.

    `kind`: binary, multiclass or regression. `metric`: as the API names it.
    `unavailable_at_prediction`: columns that the training rows have and new rows cannot: empty in the test set.
    `traits`: difficulties of the table, in a word or two each.
    """

    name: str
    source: str
    load: Callable[[], pd.DataFrame]
    target: str
    kind: str
    metric: str
    split: TrainTestSplit
    goal: str
    unavailable_at_prediction: tuple[str, ...] = ()
    traits: tuple[str, ...] = ()
    target_is_given: bool = False
    """True if Labcrew is given the target's name as a preference, besides the goal."""
