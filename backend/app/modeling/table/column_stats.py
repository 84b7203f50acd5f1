"""One numeric column in figures, worked out from its sorted values once."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.modeling.table.numeric import to_float


@dataclass(frozen=True)
class Measure:
    """`sorted` holds the known values as float64, lowest first; infinite ones count as known."""

    rows: int
    sorted: np.ndarray

    @classmethod
    def of(cls, column: pd.Series) -> "Measure":
        values = to_float(column).to_numpy()
        return cls(len(values), np.sort(values[~np.isnan(values)]))

    @property
    def missing(self) -> float:
        return 1 - len(self.sorted) / self.rows if self.rows else 0.0

    @property
    def distinct(self) -> int:
        return int((self.sorted[1:] != self.sorted[:-1]).sum()) + 1 if len(self.sorted) else 0

    def quantile(self, share: float) -> float:
        """The linearly interpolated quantile; nan of nothing."""
        if not len(self.sorted):
            return float("nan")
        place = share * (len(self.sorted) - 1)
        low = int(place)
        high = min(low + 1, len(self.sorted) - 1)
        return float(self.sorted[low] + (place - low) * (self.sorted[high] - self.sorted[low]))

    def outside(self, low: float, high: float) -> int:
        below = int(np.searchsorted(self.sorted, low, side="left"))
        return below + len(self.sorted) - int(np.searchsorted(self.sorted, high, side="right"))
