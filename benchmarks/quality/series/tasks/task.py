"""A task: a table of series or of transactions, its target and its horizon."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import pandas as pd

Period = Literal["day", "weekday", "week", "month", "quarter", "year"]
SEASONS: dict[Period, tuple[int, ...]] = {
    "day": (7, 364, 365),
    "weekday": (5, 261),
    "week": (52,),
    "month": (12,),
    "quarter": (4,),
    "year": (),
}
"""Every season in rows that the spacing of the rows admits: of each there is a reference."""
Measure = Literal["sum", "count"]


@dataclass(frozen=True)
class SeriesTask:
    """`load` gives all rows as a user would upload them, in the order of time.

    `time`, `target` and `series` name columns; `series` is None for a single one. `horizon`: periods ahead,
    each of which is forecast. `measure`: of transactions the number of each period that is forecast.
    """

    name: str
    source: str
    load: Callable[[], pd.DataFrame]
    time: str
    target: str
    every: Period
    horizon: int
    goal: str
    series: str | None = None
    measure: Measure | None = None
