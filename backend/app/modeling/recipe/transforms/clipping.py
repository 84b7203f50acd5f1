"""Clipping of outliers at quantiles of the training rows."""

from typing import Literal, Self

import pandas as pd
from pydantic import model_validator

from app.modeling.recipe.transforms.operation import Columns, Operation, Share, State
from app.modeling.table.numeric import to_float


class Clip(Operation):
    """Clip values to the quantiles `lower` and `upper` of the training rows."""

    op: Literal["clip"] = "clip"
    columns: Columns
    lower: Share = 0.01
    upper: Share = 0.99

    @model_validator(mode="after")
    def _check_bounds(self) -> Self:
        if self.lower >= self.upper:
            raise ValueError("lower must be below upper")
        return self

    def fit(self, frame: pd.DataFrame) -> State:
        return {name: self._bounds(to_float(frame[name])) for name in self.columns}

    def _bounds(self, column: pd.Series) -> list[float | None]:
        present = column.dropna()
        if present.empty:
            return [None, None]
        return [float(present.quantile(self.lower)), float(present.quantile(self.upper))]

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        clipped = {name: to_float(frame[name]).clip(*state[name]) for name in self.columns}
        return frame.assign(**clipped)
