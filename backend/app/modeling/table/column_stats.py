"""One numeric column in figures, worked out from its sorted values once."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.modeling.table.numeric import to_float


@dataclass(frozen=True)
class ColumnStats:
    """`sorted` holds the known values as float64, lowest first; infinite ones count as known."""

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
        """The linearly interpolated quantile; nan of nothing."""
        if not len(self.sorted_values):
            return float("nan")
        place = share * (len(self.sorted_values) - 1)
        low = int(place)
        high = min(low + 1, len(self.sorted_values) - 1)
        return float(
            self.sorted_values[low] + (place - low) * (self.sorted_values[high] - self.sorted_values[low])
        )

    def count_outside(self, low: float, high: float) -> int:
        below = int(np.searchsorted(self.sorted_values, low, side="left"))
        return below + len(self.sorted_values) - int(np.searchsorted(self.sorted_values, high, side="right"))
