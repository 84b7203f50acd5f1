"""Splits of tables into training and test rows."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

SEED = 20_260_101
"""Seed of every split, so that all contenders and all runs have the same test rows."""

TrainAndTest = tuple[pd.DataFrame, pd.DataFrame]


@dataclass(frozen=True)
class TrainTestSplit:
    """`make` gives training and test rows; `by` names the column that orders or groups the rows."""

    kind: str
    by: str | None
    make: Callable[[pd.DataFrame], TrainAndTest]


def random_split(test_share: float, strata: str | None = None) -> TrainTestSplit:
    """A share of the rows, of each class where `strata` names the classes."""

    def make(frame: pd.DataFrame) -> TrainAndTest:
        shuffled = frame.sample(frac=1.0, random_state=SEED)
        parts = [shuffled] if strata is None else [module for _, module in shuffled.groupby(strata)]
        test_labels = np.concatenate(
            [module.index[: round(len(module) * test_share)].to_numpy() for module in parts]
        )
        is_test = shuffled.index.isin(test_labels)
        return shuffled[~is_test], shuffled[is_test]

    return TrainTestSplit("random", None, make)


def latest_split(by: str, test_share: float) -> TrainTestSplit:
    """The last share of the rows in time; rows of one moment stay together."""

    def make(frame: pd.DataFrame) -> TrainAndTest:
        ordered = frame.sort_values(by, kind="stable")
        first_test_moment = ordered[by].iloc[round(len(ordered) * (1 - test_share))]
        return ordered[ordered[by] < first_test_moment], ordered[ordered[by] >= first_test_moment]

    return TrainTestSplit("latest", by, make)


def group_split(by: str, test_share: float) -> TrainTestSplit:
    """All rows of a share of the groups."""

    def make(frame: pd.DataFrame) -> TrainAndTest:
        names = frame[by].drop_duplicates().sample(frac=1.0, random_state=SEED)
        is_test = frame[by].isin(names.iloc[: round(len(names) * test_share)])
        return frame[~is_test], frame[is_test]

    return TrainTestSplit("new groups", by, make)
