"""Features of earlier rows of the same group; none uses later rows."""

from collections.abc import Callable
from typing import Annotated, ClassVar, Literal

import pandas as pd
from pydantic import Field

from app.modeling.recipe.transforms.operation import Columns, LookBack, Operation, State
from app.modeling.table.numeric import to_float

Periods = Annotated[tuple[LookBack, ...], Field(min_length=1)]
Window = Annotated[int, Field(ge=2, le=2000)]


class Lags(Operation):
    """`<name>_lag<n>`: the value `n` rows earlier."""

    op: Literal["lags"] = "lags"
    needs_order: ClassVar[bool] = True
    columns: Columns
    periods: Periods = (1, 2, 3)

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        columns = {
            f"{name}_lag{period}": shift_rows(to_float(frame[name]), period, groups)
            for name in self.columns
            for period in self.periods
        }
        return frame.assign(**columns)

    def history_rows(self) -> int:
        return max(self.periods)


class Rolling(Operation):
    """`<name>_<statistic><window>`: mean, std, min or max of the last `window` rows, including this one."""

    op: Literal["rolling"] = "rolling"
    needs_order: ClassVar[bool] = True
    columns: Columns
    windows: Annotated[tuple[Window, ...], Field(min_length=1)] = (7,)
    statistics: tuple[Literal["mean", "std", "min", "max"], ...] = ("mean", "std")

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        columns: dict[str, pd.Series] = {}
        for name in self.columns:
            values = to_float(frame[name])
            for window in self.windows:
                for statistic in self.statistics:
                    columns[f"{name}_{statistic}{window}"] = rolling_statistic(
                        values, window, statistic, groups
                    )
        return frame.assign(**columns)

    def history_rows(self) -> int:
        return max(self.windows)


class Changes(Operation):
    """`<name>_change<n>`: the relative change over `n` rows, or the difference."""

    op: Literal["changes"] = "changes"
    needs_order: ClassVar[bool] = True
    columns: Columns
    periods: Periods = (1,)
    how: Literal["relative", "difference"] = "relative"

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        columns: dict[str, pd.Series] = {}
        for name in self.columns:
            values = to_float(frame[name])
            for period in self.periods:
                earlier = shift_rows(values, period, groups)
                difference = values - earlier
                # By the absolute value, so that a rise from below 0 is positive; missing after 0, not infinite.
                relative = difference / earlier.abs().where(earlier != 0)
                columns[f"{name}_change{period}"] = relative if self.how == "relative" else difference
        return frame.assign(**columns)

    def history_rows(self) -> int:
        return max(self.periods)


def shift_rows(values: pd.Series, period: int, groups: pd.Series | None) -> pd.Series:
    """The value `period` rows earlier, of the same group."""
    # Without the groups the first rows of a series would see the last ones of another.
    return values.shift(period) if groups is None else values.groupby(groups, sort=False).shift(period)


def transform_by_group(
    values: pd.Series, groups: pd.Series | None, transform: Callable[[pd.Series], pd.Series]
) -> pd.Series:
    """Apply `transform` to the values of each group, in the order of the rows."""
    if groups is None:
        return transform(values)
    return values.groupby(groups, sort=False, group_keys=False).transform(transform)


def rolling_statistic(values: pd.Series, window: int, statistic: str, groups: pd.Series | None) -> pd.Series:
    """A statistic of the last `window` rows; missing until the window is full."""
    return transform_by_group(values, groups, lambda series: getattr(series.rolling(window), statistic)())
