"""Treatment of missing values, learned from training rows only."""

from typing import Any, Literal

import pandas as pd

from app.modeling.recipe.transforms.columns import to_category_text
from app.modeling.recipe.transforms.operation import Columns, Operation, State
from app.modeling.table.json_values import to_json_scalar
from app.modeling.table.numeric import to_float


class MarkMissing(Operation):
    """Add a column `<name>_missing`, 1 where the value is missing: missingness may be informative."""

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
        return {name: to_json_scalar(self._fill_value(frame[name])) for name in self.columns}

    def _fill_value(self, column: pd.Series) -> Any:
        if self.strategy == "constant":
            return self.value
        present = column.dropna()
        if present.empty:
            return None
        if self.strategy == "most_frequent" or not pd.api.types.is_numeric_dtype(column.dtype):
            return present.mode().iloc[0]
        return to_float(present).agg(self.strategy)

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        return frame.assign(**{name: _fill(frame[name], state[name]) for name in self.columns})


def _fill(column: pd.Series, fill_value: Any) -> pd.Series:
    if fill_value is None:
        return column
    if isinstance(fill_value, str) and not isinstance(column.dtype, pd.DatetimeTZDtype | pd.StringDtype):
        if pd.api.types.is_datetime64_any_dtype(column.dtype):
            # JSON made a text of the fitted date.
            return column.fillna(pd.Timestamp(fill_value))
        return to_category_text(column).fillna(fill_value)
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype):
        return to_float(column).fillna(float(fill_value))
    return column.fillna(fill_value)
