"""Rows that repeat another row, entirely or apart from an identifier of their own. They are data, and kept;
where such values do not coincide they stay on one side of every split."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.modeling.problem.problem import Problem
from app.modeling.splits.near_copies import find_near_copies

MIN_CHANCE_RATIO = 20
"""Equal pairs of rows, as a multiple of the number expected by chance if columns were independent. Columns
of real tables are correlated, so a small excess proves nothing."""


MIN_FINE_SHARE = 0.3
"""Distinct values of a column, as a share of the distinct rows, from which equal rows are no coincidence of a
few categories: identifiers and measurements have one for each row, counts and categories far fewer."""


@dataclass(frozen=True)
class NearDuplicates:
    """Groups of rows that are equal in all columns but `names`, more often than chance explains.

    `codes` (rows,): rows of one group share a code; -1 for a row without a duplicate. `is_near`: they differ a
    little in their numbers, see `near_copies`.
    """

    codes: np.ndarray
    names: tuple[str, ...]
    is_near: bool = False

    @property
    def rows(self) -> int:
        return int((self.codes >= 0).sum())


def find_near_duplicates(rows: pd.DataFrame, problem: Problem) -> NearDuplicates:
    """Find rows that are equal, apart from columns whose values are all distinct, if chance does not explain
    them: they share an identifier or continuous values, and are more than independent columns would make.

    Without any, rows that nearly equal each other are searched.
    """
    identifiers = tuple(str(name) for name in rows.columns if _is_identifier(rows[name], problem))
    rest = [name for name in rows.columns if name not in identifiers]
    no_codes = np.full(len(rows), -1)
    if len(rest) < 2:
        return NearDuplicates(no_codes, identifiers)
    codes = row_codes(rows[rest])
    repeated = np.bincount(codes)[codes] > 1
    if not repeated.any() or not _has_fine_column(rows[rest], codes) or not exceeds_chance(rows[rest], codes):
        copies = find_near_copies(rows[rest], problem)
        return NearDuplicates(no_codes if copies is None else copies, identifiers, copies is not None)
    return NearDuplicates(np.where(repeated, codes, -1), identifiers)


def _has_fine_column(rows: pd.DataFrame, codes: np.ndarray) -> bool:
    """Return true if some column has about as many values as there are distinct rows."""
    distinct_rows = len(np.unique(codes))
    return any(rows[name].nunique() >= MIN_FINE_SHARE * distinct_rows for name in rows.columns)


def _is_identifier(column: pd.Series, problem: Problem) -> bool:
    if column.name in (problem.target, problem.time_column, problem.group_column):
        return False
    # Measurements and moments are all distinct by nature, and name no row.
    if pd.api.types.is_float_dtype(column.dtype) or pd.api.types.is_datetime64_any_dtype(column.dtype):
        return False
    return bool(column.notna().all() and column.is_unique)


def exceeds_chance(rows: pd.DataFrame, codes: np.ndarray) -> bool:
    """Return true if far more pairs of rows are equal than independent columns would explain.

    A few categories coincide by chance all the time; measurements do not.
    """
    share = 1.0
    for name in rows.columns:
        # Sum of squared shares: the probability that two rows drawn at random agree in this column.
        counts = np.bincount(pd.factorize(rows[name], use_na_sentinel=False)[0])
        share *= float(((counts / len(rows)) ** 2).sum())
    counts = np.bincount(codes).astype("float64")
    pairs = float((counts * (counts - 1)).sum()) / 2
    return pairs > MIN_CHANCE_RATIO * share * len(rows) * (len(rows) - 1) / 2


def row_codes(rows: pd.DataFrame) -> np.ndarray:
    """Number the rows (rows,) so that equal rows share a number; a missing value counts as a value."""
    # Much faster than grouping by all columns; 64 bits collide in a million rows with a probability of 3e-8.
    hashes = pd.util.hash_pandas_object(rows, index=False).to_numpy()
    codes: np.ndarray = np.unique(hashes, return_inverse=True)[1]
    return codes


def count_contradictions(rows: pd.DataFrame, problem: Problem, duplicates: NearDuplicates) -> int:
    """Count the rows whose inputs equal those of another row with another target."""
    # With an identifier among the inputs no two rows would be equal.
    inputs = [name for name in rows.columns if name != problem.target and name not in duplicates.names]
    if not inputs or problem.horizon:
        return 0
    codes, targets = row_codes(rows[inputs]), pd.factorize(rows[problem.target])[0]
    if not exceeds_chance(rows[inputs], codes):
        return 0
    first = np.full(codes.max() + 1, -1)
    # Assigned from the last row to the first, so that the first row of each code remains.
    first[codes[::-1]] = targets[::-1]
    differs = np.zeros(len(first), dtype=bool)
    differs[codes[targets != first[codes]]] = True
    return int(differs[codes].sum())
