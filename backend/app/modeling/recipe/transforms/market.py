"""Features of volatility, and of other groups (coins) at the same time."""

from typing import Annotated, ClassVar, Literal

import pandas as pd
from pydantic import Field

from app.modeling.recipe.transforms.lag_features import Periods, Window, shift_rows
from app.modeling.recipe.transforms.operation import Operation, State
from app.modeling.recipe.volatility import close_to_close, garman_klass, parkinson
from app.modeling.table.numeric import to_float


class Volatility(Operation):
    """`volatility_<n>`, `parkinson_<n>` and `garman_klass_<n>`, per bar, see `recipe.volatility`."""

    op: Literal["volatility"] = "volatility"
    needs_order: ClassVar[bool] = True
    open: str = "open"
    high: str = "high"
    low: str = "low"
    close: str = "close"
    windows: Annotated[tuple[Window, ...], Field(min_length=1, max_length=10)] = (20,)

    def required_columns(self) -> tuple[str, ...]:
        return (self.open, self.high, self.low, self.close)

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        if groups is None:
            return frame.assign(**self._estimate(frame))
        estimates = [self._estimate(group) for _, group in frame.groupby(groups, sort=False)]
        columns = (
            {name: pd.concat([estimate[name] for estimate in estimates]) for name in estimates[0]}
            if estimates
            else {}
        )
        # Concatenated groups come in the order of groups; rows must return to their own.
        return frame.assign(**{name: values.loc[frame.index] for name, values in columns.items()})

    def history_rows(self) -> int:
        return max(self.windows) + 1

    def _estimate(self, frame: pd.DataFrame) -> dict[str, pd.Series]:
        open_, high, low, close = (to_float(frame[name]) for name in self.required_columns())
        columns = {}
        for window in self.windows:
            columns[f"volatility_{window}"] = close_to_close(close, window)
            columns[f"parkinson_{window}"] = parkinson(high, low, window)
            columns[f"garman_klass_{window}"] = garman_klass(open_, high, low, close, window)
        return columns


class Cross(Operation):
    """Changes of the other groups at the same time; missing for the only group of a time.

    `others_<n>`: their mean relative change over `n` rows; `beside_<n>`: the change of this group minus theirs.
    """

    op: Literal["cross"] = "cross"
    needs_order: ClassVar[bool] = True
    column: str
    time: str
    periods: Periods = (1,)

    def required_columns(self) -> tuple[str, ...]:
        return (self.column, self.time)

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        values = to_float(frame[self.column])
        columns: dict[str, pd.Series] = {}
        for period in self.periods:
            earlier = shift_rows(values, period, groups)
            change = (values - earlier) / earlier.abs().where(earlier != 0)
            by_time = change.groupby(frame[self.time])
            # The mean of the others is the total without the own change: no loop over pairs of groups.
            count, total = by_time.transform("count"), by_time.transform("sum")
            others_change = (total - change.fillna(0.0)) / (count - change.notna()).where(
                count > change.notna()
            )
            columns |= {f"others_{period}": others_change, f"beside_{period}": change - others_change}
        return frame.assign(**columns)

    def history_rows(self) -> int:
        return max(self.periods)
