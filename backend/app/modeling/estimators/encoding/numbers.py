"""Encoding of all numeric columns of a table: unchanged, or scaled by training rows."""

import json
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import ndtri

from app.modeling.estimators.encoding.codes import to_finite_number

MAX_QUANTILES = 200
"""Quantiles that ranks are interpolated between."""
MAX_LEVELS = 12
"""A number with at most this many distinct values is one-hot encoded as well: it may be a code."""
MAX_DEVIATION = 6.0
"""Scaled values are clipped here, in standard deviations, to bound the effect of outliers."""
_LISTS = ("names_", "levels_")


class Numbers:
    """Numeric and boolean columns by name. `scaled`: for estimators that need columns of one scale."""

    def fit(self, frame: pd.DataFrame, names: list[str], scaled: bool) -> Self:
        values = to_matrix(frame, names)
        varies = _varies(values)
        self.names_ = [name for name, is_useful in zip(names, varies, strict=True) if is_useful]
        self.scaled_ = scaled
        if scaled:
            self._learn(values[:, varies])
        return self

    def _learn(self, values: np.ndarray) -> None:
        missing = np.isnan(values)
        self.median_ = np.nanmedian(values, axis=0) if values.size else np.zeros(0)
        filled = np.where(missing, self.median_, values)
        self.mean_ = filled.mean(axis=0)
        spread = filled.std(axis=0)
        self.spread_ = np.where(spread > 0, spread, 1.0)
        self.flagged_ = missing.any(axis=0)
        at = np.linspace(0, 1, min(MAX_QUANTILES, max(len(values) // 2, 2)))
        self.quantiles_ = np.nanquantile(values, at, axis=0) if values.size else np.zeros((2, 0))
        self.levels_ = [_levels(column) for column in values.T]

    def dense(self, frame: pd.DataFrame) -> np.ndarray:
        """Encode as (rows, width) float32, missing as nan; scaled: numbers, their ranks, flags of missing
        values."""
        values = to_matrix(frame, self.names_)
        if not self.scaled_:
            return values.astype("float32")
        missing = np.isnan(values)
        filled = np.where(missing, self.median_, values)
        unit = np.clip((filled - self.mean_) / self.spread_, -MAX_DEVIATION, MAX_DEVIATION)
        return np.concatenate([unit, self._ranks(filled), missing[:, self.flagged_]], axis=1).astype("float32")

    def _ranks(self, filled: np.ndarray) -> np.ndarray:
        """Ranks among training values as normal deviates within 3; ties take their middle rank."""
        at = np.linspace(0, 1, len(self.quantiles_))
        share = np.empty_like(filled)
        for position, (column, quantiles) in enumerate(zip(filled.T, self.quantiles_.T, strict=True)):
            # From both ends, since np.interp gives tied values the rank of one end of their range.
            from_above = np.interp(-column, -quantiles[::-1], -at[::-1])
            share[:, position] = (np.interp(column, quantiles, at) - from_above) / 2
        # The normal deviate of a share of 0 or 1 is infinite.
        return np.asarray(np.clip(ndtri(np.clip(share, 1e-3, 1 - 1e-3)), -3, 3))

    def encode_levels(self, frame: pd.DataFrame) -> Any:
        """One-hot encode numbers with few distinct values, sparse (rows, values); None if there are none."""
        positions = [position for position, levels in enumerate(self.levels_ if self.scaled_ else []) if levels]
        if not positions:
            return None
        values = to_matrix(frame, [self.names_[position] for position in positions])
        blocks = [
            one_hot_levels(column, self.levels_[position])
            for position, column in zip(positions, values.T, strict=True)
        ]
        return sparse.hstack(blocks, format="csr", dtype="float32")

    def __getstate__(self) -> dict[str, Any]:
        """The state with names and levels as one text each: skops takes seconds for thousands of values."""
        return self.__dict__ | {key: json.dumps(self.__dict__[key]) for key in _LISTS if key in self.__dict__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state | {key: json.loads(state[key]) for key in _LISTS if key in state})

    def dense_names(self) -> list[str]:
        if not self.scaled_:
            return list(self.names_)
        flagged = [f"{name} missing" for name, flag in zip(self.names_, self.flagged_, strict=True) if flag]
        return [*self.names_, *(f"{name} rank" for name in self.names_), *flagged]

    def level_names(self) -> list[str]:
        if not self.scaled_:
            return []
        return [
            f"{name}={level:g}"
            for name, levels in zip(self.names_, self.levels_, strict=True)
            for level in levels
        ]


def to_matrix(frame: pd.DataFrame, names: list[str]) -> np.ndarray:
    """Convert columns to a float64 matrix (rows, names); non-finite values become nan."""
    if not names:
        return np.zeros((len(frame), 0))
    selected = frame[names]
    if all(isinstance(dtype, np.dtype) and dtype.kind in "iufb" for dtype in selected.dtypes):
        values = selected.to_numpy(dtype="float64")
    else:
        values = np.column_stack([to_finite_number(frame[name]) for name in names])
    return np.where(np.isfinite(values), values, np.nan)


def _varies(values: np.ndarray) -> np.ndarray:
    """Test for columns (columns,) with two distinct values, missing counted as one."""
    is_present = ~np.isnan(values)
    highest = np.where(is_present, values, -np.inf).max(axis=0, initial=-np.inf)
    lowest = np.where(is_present, values, np.inf).min(axis=0, initial=np.inf)
    has_values = is_present.any(axis=0)
    return np.asarray(has_values & ((highest > lowest) | ~is_present.all(axis=0)))


def _levels(column: np.ndarray) -> list[float]:
    """The distinct values of a number that has only a few, else none: they may be codes."""
    distinct = np.unique(column[~np.isnan(column)])
    # Two values are told apart by the number itself.
    return [float(value) for value in distinct] if 2 < len(distinct) <= MAX_LEVELS else []


def one_hot_levels(values: np.ndarray, levels: list[float]) -> Any:
    """One-hot encode the level of each value, sparse (rows, levels)."""
    at = np.searchsorted(levels, values).clip(0, len(levels) - 1)
    return one_hot(np.where(np.array(levels)[at] == values, at, -1), len(levels))


def one_hot(at: np.ndarray, width: int) -> Any:
    """Sparse (rows, width) with a one at each row's position; none for position -1."""
    rows = np.flatnonzero(at >= 0)
    ones = np.ones(len(rows), dtype="float32")
    return sparse.csr_matrix((ones, (rows, at[rows])), shape=(len(at), width))
