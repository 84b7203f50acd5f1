"""One task: a public table, what to predict of it, and how that is judged."""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
from benchmarks.quality.tables.cuts import Cut


@dataclass(frozen=True)
class Table:
    """`load` gives all rows as a user would upload them.

    `kind`: binary, multiclass or regression. `metric`: as the API names it.
    `unknown_later`: columns that the training rows have and new rows cannot: empty in the test set.
    `traits`: what makes the table hard, in a word each.
    """

    name: str
    source: str
    load: Callable[[], pd.DataFrame]
    target: str
    kind: str
    metric: str
    cut: Cut
    goal: str
    unknown_later: tuple[str, ...] = ()
    traits: tuple[str, ...] = ()
    tells_target: bool = False
    """Whether Labcrew is told the target's name apart from the sentence."""
