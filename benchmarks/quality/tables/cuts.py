"""How rows that nobody sees before the end are cut off."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

SEED = 20_260_101

Halves = tuple[pd.DataFrame, pd.DataFrame]


@dataclass(frozen=True)
class Cut:
    """`make` gives training and test rows; `by` names the column that orders or groups the rows."""

    kind: str
    by: str | None
    make: Callable[[pd.DataFrame], Halves]


def at_random(test: float, strata: str | None = None) -> Cut:
    """A share of the rows, of each class where `strata` names the classes."""

    def make(frame: pd.DataFrame) -> Halves:
        shuffled = frame.sample(frac=1.0, random_state=SEED)
        parts = [shuffled] if strata is None else [part for _, part in shuffled.groupby(strata)]
        chosen = np.concatenate([part.index[: round(len(part) * test)].to_numpy() for part in parts])
        is_test = shuffled.index.isin(chosen)
        return shuffled[~is_test], shuffled[is_test]

    return Cut("random", None, make)


def latest(by: str, test: float) -> Cut:
    """The last share of the rows in time; rows of one moment stay together."""

    def make(frame: pd.DataFrame) -> Halves:
        ordered = frame.sort_values(by, kind="stable")
        first = ordered[by].iloc[round(len(ordered) * (1 - test))]
        return ordered[ordered[by] < first], ordered[ordered[by] >= first]

    return Cut("latest", by, make)


def new_groups(by: str, test: float) -> Cut:
    """All rows of a share of the groups."""

    def make(frame: pd.DataFrame) -> Halves:
        names = frame[by].drop_duplicates().sample(frac=1.0, random_state=SEED)
        is_test = frame[by].isin(names.iloc[: round(len(names) * test)])
        return frame[~is_test], frame[is_test]

    return Cut("new groups", by, make)
