"""What is done about missing values and outliers, learned from training rows only."""

from typing import Any, Literal, Self

import pandas as pd
from pydantic import model_validator

from app.modeling.recipe.transforms.columns import to_category_text
from app.modeling.recipe.transforms.step import Columns, Operation, Share, State
from app.modeling.table.json_values import to_json_scalar
from app.modeling.table.numeric import to_float


class MarkMissing(Operation):
    """A column `<name>_missing`, 1 where the value is missing: that it is missing may say something."""

    op: Literal["mark_missing"] = "mark_missing"
    columns: Columns

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        return frame.assign(
            **{f"{name}_missing": frame[name].isna().astype("float64") for name in self.columns}
        )


class Impute(Operation):
    """Fill missing values with the training rows' median, mean or most frequent value, or a constant."""

    op: Literal["impute"] = "impute"
    columns: Columns
    strategy: Literal["median", "mean", "most_frequent", "constant"] = "median"
    value: float | str | None = None

    def fit(self, frame: pd.DataFrame) -> State:
        return {name: to_json_scalar(self._filling(frame[name])) for name in self.columns}

    def _filling(self, column: pd.Series) -> Any:
        if self.strategy == "constant":
            return self.value
        known = column.dropna()
        if known.empty:
            return None
        if self.strategy == "most_frequent" or not pd.api.types.is_numeric_dtype(column.dtype):
            return known.mode().iloc[0]
        return to_float(known).agg(self.strategy)

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        return frame.assign(**{name: _filled(frame[name], state[name]) for name in self.columns})


def _filled(column: pd.Series, filling: Any) -> pd.Series:
    if filling is None:
        return column
    if isinstance(filling, str) and not isinstance(column.dtype, pd.DatetimeTZDtype | pd.StringDtype):
        if pd.api.types.is_datetime64_any_dtype(column.dtype):
            return column.fillna(pd.Timestamp(filling))
        return to_category_text(column).fillna(filling)
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype):
        return to_float(column).fillna(float(filling))
    return column.fillna(filling)


class Clip(Operation):
    """Pull outliers in to the training rows' quantiles `lower` and `upper`."""

    op: Literal["clip"] = "clip"
    columns: Columns
    lower: Share = 0.01
    upper: Share = 0.99

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.lower >= self.upper:
            raise ValueError("lower must be below upper")
        return self

    def fit(self, frame: pd.DataFrame) -> State:
        return {name: self._bounds(to_float(frame[name])) for name in self.columns}

    def _bounds(self, column: pd.Series) -> list[float | None]:
        known = column.dropna()
        if known.empty:
            return [None, None]
        return [float(known.quantile(self.lower)), float(known.quantile(self.upper))]

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        clipped = {name: to_float(frame[name]).clip(*state[name]) for name in self.columns}
        return frame.assign(**clipped)
