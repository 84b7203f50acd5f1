"""Numeric features of one or two columns."""

from typing import Annotated, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from app.modeling.recipe.transforms.operation import Columns, Operation, State
from app.modeling.table.numeric import to_float


class Log1p(Operation):
    """Signed logarithm of 1 + |value|, for amounts that span magnitudes."""

    op: Literal["log1p"] = "log1p"
    columns: Columns

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        return frame.assign(**{f"{name}_log": _log(to_float(frame[name])) for name in self.columns})


def _log(values: pd.Series) -> pd.Series:
    return pd.Series(np.sign(values) * np.log1p(values.abs()), index=values.index)


class Combine(Operation):
    """One column for each pair: `ratio` (missing if the second is 0), `product`, `difference` or `sum`."""

    op: Literal["combine"] = "combine"
    how: Literal["ratio", "product", "difference", "sum"]
    pairs: Annotated[tuple[tuple[str, str], ...], Field(min_length=1)]

    def required_columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for pair in self.pairs for name in pair))

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        columns = {}
        for first, second in self.pairs:
            a, b = to_float(frame[first]), to_float(frame[second])
            columns[f"{first}_{self.how}_{second}"] = _COMBINATIONS[self.how](a, b)
        return frame.assign(**columns)


_COMBINATIONS = {
    "ratio": lambda a, b: a / b.where(b != 0),
    "product": lambda a, b: a * b,
    "difference": lambda a, b: a - b,
    "sum": lambda a, b: a + b,
}
