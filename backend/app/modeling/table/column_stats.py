"""Statistics of one numeric column, computed from its values sorted once."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.modeling.table.numeric import to_float


@dataclass(frozen=True)
class ColumnStats:
    """`sorted_values` (known values,): the values that are not missing as float64, ascending, with
    infinities."""

    rows: int
    sorted_values: np.ndarray

    @classmethod
    def from_column(cls, column: pd.Series) -> "ColumnStats":
        values = to_float(column).to_numpy()
        return cls(len(values), np.sort(values[~np.isnan(values)]))

    @property
    def missing_share(self) -> float:
        return 1 - len(self.sorted_values) / self.rows if self.rows else 0.0

    @property
    def distinct_count(self) -> int:
        return (
            int((self.sorted_values[1:] != self.sorted_values[:-1]).sum()) + 1 if len(self.sorted_values) else 0
        )

    def quantile(self, share: float) -> float:
        """The linearly interpolated quantile; nan for an empty column."""
        if not len(self.sorted_values):
            return float("nan")
        position = share * (len(self.sorted_values) - 1)
        low = int(position)
        high = min(low + 1, len(self.sorted_values) - 1)
        return float(
            self.sorted_values[low] + (position - low) * (self.sorted_values[high] - self.sorted_values[low])
        )

    def count_outside(self, low: float, high: float) -> int:
        """Count the values below `low` or above `high`."""
        below = int(np.searchsorted(self.sorted_values, low, side="left"))
        return below + len(self.sorted_values) - int(np.searchsorted(self.sorted_values, high, side="right"))
