"""A forecast by period: what a goal asks for of a table whose rows make a series."""

from dataclasses import dataclass

from app.agents.goals.conditions.row_conditions import RowCondition
from app.agents.goals.series.select_sql import PeriodAggregation
from app.agents.goals.tables.profiles import TableProfile


@dataclass(frozen=True)
class PeriodForecast:
    """A series of periods to be made of the table's rows, and the number of periods to forecast.

    `conditions`: those of the rows that the goal is about, which may need `joined` tables.
    `gaps`: periods without a row; `repeated_rows`: rows of a period that has one already.
    `is_default_horizon`: the goal says none. `assumed`: columns whose future the goal assumes.
    """

    table: TableProfile
    aggregation: PeriodAggregation
    steps: int
    conditions: tuple[RowCondition, ...] = ()
    joined: tuple[str, ...] = ()
    gaps: int = 0
    repeated_rows: int = 0
    is_default_horizon: bool = False
    assumed: tuple[str, ...] = ()
