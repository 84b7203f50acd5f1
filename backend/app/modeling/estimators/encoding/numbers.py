"""All columns of numbers of a table at once: as they are, or on the scale of what training rows held."""

import json
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import ndtri

from app.modeling.estimators.encoding.codes import as_number

QUANTILES = 200
FEW_VALUES = 12
BOUND = 6.0
_LISTS = ("names_", "levels_")


class Numbers:
    """Columns of numbers and booleans by name. `scaled`: for estimators that want all columns alike."""

    def fit(self, frame: pd.DataFrame, names: list[str], scaled: bool) -> Self:
        values = matrix_of(frame, names)
        varies = _varies(values)
        self.names_ = [name for name, of_use in zip(names, varies, strict=True) if of_use]
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
        at = np.linspace(0, 1, min(QUANTILES, max(len(values) // 2, 2)))
        self.quantiles_ = np.nanquantile(values, at, axis=0) if values.size else np.zeros((2, 0))
        self.levels_ = [_levels(column) for column in values.T]

    def dense(self, frame: pd.DataFrame) -> np.ndarray:
        """(rows, width) float32, nan where missing; scaled: numbers, their ranks, flags of missing ones."""
        values = matrix_of(frame, self.names_)
        if not self.scaled_:
            return values.astype("float32")
        missing = np.isnan(values)
        filled = np.where(missing, self.median_, values)
        unit = np.clip((filled - self.mean_) / self.spread_, -BOUND, BOUND)
        return np.concatenate([unit, self._ranks(filled), missing[:, self.flagged_]], axis=1).astype("float32")

    def _ranks(self, filled: np.ndarray) -> np.ndarray:
        """The place among training values as a normal deviate within 3; ties lie in the middle of theirs."""
        at = np.linspace(0, 1, len(self.quantiles_))
        share = np.empty_like(filled)
        for place, (column, known) in enumerate(zip(filled.T, self.quantiles_.T, strict=True)):
            from_above = np.interp(-column, -known[::-1], -at[::-1])
            share[:, place] = (np.interp(column, known, at) - from_above) / 2
        return np.asarray(np.clip(ndtri(np.clip(share, 1e-3, 1 - 1e-3)), -3, 3))

    def kinds(self, frame: pd.DataFrame) -> Any:
        """(rows, values) sparse: which of its few values a number has, where it has only a few; else None."""
        wanted = [place for place, levels in enumerate(self.levels_ if self.scaled_ else []) if levels]
        if not wanted:
            return None
        values = matrix_of(frame, [self.names_[place] for place in wanted])
        blocks = [one_of(column, self.levels_[place]) for place, column in zip(wanted, values.T, strict=True)]
        return sparse.hstack(blocks, format="csr", dtype="float32")

    def __getstate__(self) -> dict[str, Any]:
        """Names and levels as one text: value by value, a wide table takes seconds to store."""
        return self.__dict__ | {key: json.dumps(self.__dict__[key]) for key in _LISTS if key in self.__dict__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state | {key: json.loads(state[key]) for key in _LISTS if key in state})

    def dense_names(self) -> list[str]:
        if not self.scaled_:
            return list(self.names_)
        flagged = [f"{name} missing" for name, flag in zip(self.names_, self.flagged_, strict=True) if flag]
        return [*self.names_, *(f"{name} rank" for name in self.names_), *flagged]

    def kind_names(self) -> list[str]:
        if not self.scaled_:
            return []
        return [
            f"{name}={level:g}"
            for name, levels in zip(self.names_, self.levels_, strict=True)
            for level in levels
        ]


def matrix_of(frame: pd.DataFrame, names: list[str]) -> np.ndarray:
    """(rows, names) float64; what is not finite is nan."""
    if not names:
        return np.zeros((len(frame), 0))
    part = frame[names]
    if all(isinstance(dtype, np.dtype) and dtype.kind in "iufb" for dtype in part.dtypes):
        values = part.to_numpy(dtype="float64")
    else:
        values = np.column_stack([as_number(frame[name]) for name in names])
    return np.where(np.isfinite(values), values, np.nan)


def _varies(values: np.ndarray) -> np.ndarray:
    """Which columns hold two different values, missing counted as one."""
    known = ~np.isnan(values)
    highest = np.where(known, values, -np.inf).max(axis=0, initial=-np.inf)
    lowest = np.where(known, values, np.inf).min(axis=0, initial=np.inf)
    some = known.any(axis=0)
    return np.asarray(some & ((highest > lowest) | ~known.all(axis=0)))


def _levels(column: np.ndarray) -> list[float]:
    """The values of a number that takes only a few, else none: they may be kinds rather than amounts."""
    found = np.unique(column[~np.isnan(column)])
    return [float(value) for value in found] if 2 < len(found) <= FEW_VALUES else []


def one_of(values: np.ndarray, levels: list[float]) -> Any:
    """(rows, levels) sparse: which level each value is."""
    at = np.searchsorted(levels, values).clip(0, len(levels) - 1)
    return one_hot(np.where(np.array(levels)[at] == values, at, -1), len(levels))


def one_hot(at: np.ndarray, width: int) -> Any:
    """(rows, width) sparse with a one at each place; none where the place is -1."""
    rows = np.flatnonzero(at >= 0)
    ones = np.ones(len(rows), dtype="float32")
    return sparse.csr_matrix((ones, (rows, at[rows])), shape=(len(at), width))
