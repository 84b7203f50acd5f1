"""What bars say of how much a price moves, and what other coins do at the same moment."""

from typing import Annotated, ClassVar, Literal

import pandas as pd
from pydantic import Field

from app.modeling.recipe.transforms.history import Periods, Window, shift_rows
from app.modeling.recipe.transforms.step import Operation, State
from app.modeling.recipe.volatility import close_to_close, garman_klass, parkinson
from app.modeling.table.numeric import to_float


class Volatility(Operation):
    """`volatility_<n>`, `parkinson_<n>` and `garman_klass_<n>`, per bar: see `markets.volatility`."""

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
            return frame.assign(**self._made(frame))
        parts = [self._made(part) for _, part in frame.groupby(groups, sort=False)]
        together = {name: pd.concat([part[name] for part in parts]) for name in parts[0]} if parts else {}
        return frame.assign(**{name: values.loc[frame.index] for name, values in together.items()})

    def history_rows(self) -> int:
        return max(self.windows) + 1

    def _made(self, frame: pd.DataFrame) -> dict[str, pd.Series]:
        opened, high, low, close = (to_float(frame[name]) for name in self.required_columns())
        made = {}
        for window in self.windows:
            made[f"volatility_{window}"] = close_to_close(close, window)
            made[f"parkinson_{window}"] = parkinson(high, low, window)
            made[f"garman_klass_{window}"] = garman_klass(opened, high, low, close, window)
        return made


class Cross(Operation):
    """What the other groups do at the same moment; missing where a group is alone.

    `others_<n>`: their mean relative change over `n` rows; `beside_<n>`: how much more this group changed.
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
        made: dict[str, pd.Series] = {}
        for period in self.periods:
            before = shift_rows(values, period, groups)
            change = (values - before) / before.abs().where(before != 0)
            of_moment = change.groupby(frame[self.time])
            count, total = of_moment.transform("count"), of_moment.transform("sum")
            others = (total - change.fillna(0.0)) / (count - change.notna()).where(count > change.notna())
            made |= {f"others_{period}": others, f"beside_{period}": change - others}
        return frame.assign(**made)

    def history_rows(self) -> int:
        return max(self.periods)
