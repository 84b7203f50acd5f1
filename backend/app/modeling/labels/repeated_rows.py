"""Rows that say the same thing again: whole, or but for a number of their own."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.modeling.problem.problem import Problem

FAR_BEYOND = 20
"""Times as many equal pairs as chance allows: columns do have to do with each other."""


@dataclass(frozen=True)
class Twins:
    """`codes` (rows,): rows with the same code are alike in all but `names`; -1 where a row is alone."""

    codes: np.ndarray
    names: tuple[str, ...]

    @property
    def rows(self) -> int:
        return int((self.codes >= 0).sum())


def find_twins(rows: pd.DataFrame, problem: Problem) -> Twins:
    """Rows that differ only in columns where every row has a value of its own, more often than by chance."""
    own = tuple(str(name) for name in rows.columns if _is_own(rows[name], problem))
    rest = [name for name in rows.columns if name not in own]
    alone = np.full(len(rows), -1)
    if not own or len(rest) < 2:
        return Twins(alone, own)
    codes = alike(rows[rest])
    repeated = np.bincount(codes)[codes] > 1
    if not repeated.any() or not beyond_chance(rows[rest], codes):
        return Twins(alone, own)
    return Twins(np.where(repeated, codes, -1), own)


def _is_own(column: pd.Series, problem: Problem) -> bool:
    if column.name in (problem.target, problem.time_column, problem.group_column):
        return False
    if pd.api.types.is_float_dtype(column.dtype) or pd.api.types.is_datetime64_any_dtype(column.dtype):
        return False
    return bool(column.notna().all() and column.is_unique)


def beyond_chance(rows: pd.DataFrame, codes: np.ndarray) -> bool:
    """Whether far more pairs of rows are alike than would be if columns had nothing to do with each other.

    A few categories coincide by chance all the time; measurements do not.
    """
    share = 1.0
    for name in rows.columns:
        counts = np.bincount(pd.factorize(rows[name], use_na_sentinel=False)[0])
        share *= float(((counts / len(rows)) ** 2).sum())
    counts = np.bincount(codes).astype("float64")
    pairs = float((counts * (counts - 1)).sum()) / 2
    return pairs > FAR_BEYOND * share * len(rows) * (len(rows) - 1) / 2


def alike(rows: pd.DataFrame) -> np.ndarray:
    """A number for each row, the same for rows with the same values (gaps count as a value)."""
    hashes = pd.util.hash_pandas_object(rows, index=False).to_numpy()
    codes: np.ndarray = np.unique(hashes, return_inverse=True)[1]
    return codes


def contradicting(rows: pd.DataFrame, problem: Problem, twins: Twins) -> int:
    """Rows whose inputs another row has too, with another target."""
    inputs = [name for name in rows.columns if name != problem.target and name not in twins.names]
    if not inputs or problem.horizon:
        return 0
    codes, targets = alike(rows[inputs]), pd.factorize(rows[problem.target])[0]
    if not beyond_chance(rows[inputs], codes):
        return 0
    first = np.full(codes.max() + 1, -1)
    first[codes[::-1]] = targets[::-1]
    differs = np.zeros(len(first), dtype=bool)
    differs[codes[targets != first[codes]]] = True
    return int(differs[codes].sum())
