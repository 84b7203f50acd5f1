"""Groups of raw columns that are explained together: codes of a category, parts of a date, lags, correlates.

Shuffling one column of such a group leaves its content in the others, so that each seems to matter little.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from app.modeling.table.columns import ColumnKind, column_kind

MIN_CORRELATION = 0.9
"""Absolute rank correlation from which columns are one group: a variance inflation of 5, beyond which single
coefficients are commonly taken for meaningless."""
MAX_RANKED_ROWS = 2000
"""Rows whose ranks are correlated: the correlation is then known to 0.01 at 0.9."""
MIN_CODES = 3
"""Columns of ones and zeros that make a set of codes; two are more often two facts."""
MAX_OVERLAP = 0.01
"""Share of rows with more than one code of a set, as misread cells may cause."""

GroupReason = Literal["single", "codes", "date", "lags", "correlated"]

_PART = re.compile(r"[a-z]+|\d+")
_SEPARATOR = re.compile(r"[_.=:\s]")
_LAGS = frozenset({"lag", "lagged", "shift", "shifted", "prev"})
_DATE_PARTS = frozenset({"year", "month", "day"})


@dataclass(frozen=True)
class ColumnGroup:
    """Columns that are shuffled together, the most related to the target first."""

    columns: tuple[str, ...]
    reason: GroupReason = "single"

    @property
    def label(self) -> str:
        return ", ".join(self.columns)


def group_columns(rows: pd.DataFrame, columns: Sequence[str]) -> list[ColumnGroup]:
    """Group columns; each is in one group. Groups, and columns within them, keep the given order."""
    groups: list[ColumnGroup] = []
    remaining = list(columns)
    for reason, names in (*_named_groups(rows, remaining), *_correlated(rows, remaining)):
        members = tuple(name for name in remaining if name in names)
        if len(members) > 1:
            groups.append(ColumnGroup(members, reason))
            remaining = [name for name in remaining if name not in members]
    groups += [ColumnGroup((name,)) for name in remaining]
    places = {name: place for place, name in enumerate(columns)}
    return sorted(groups, key=lambda group: places[group.columns[0]])


def _named_groups(rows: pd.DataFrame, columns: Sequence[str]) -> Iterator[tuple[GroupReason, set[str]]]:
    """Yield groups by the stems of names, where the values agree with them."""
    dates: dict[tuple[str, ...], dict[str, str]] = {}
    lags: dict[tuple[str, ...], set[str]] = {}
    codes: dict[str, set[str]] = {}
    for name in columns:
        parts = _PART.findall(name.casefold())
        if parts and parts[-1] in _DATE_PARTS:
            dates.setdefault(tuple(parts[:-1]), {})[parts[-1]] = name
        if _LAGS.intersection(parts) and any(map(str.isdigit, parts)):
            stem = tuple(part for part in parts if part not in _LAGS and not part.isdigit())
            lags.setdefault(stem, set()).add(name)
        prefix, *value = _SEPARATOR.split(name, maxsplit=1)
        if prefix and value and _is_code(rows[name]):
            codes.setdefault(prefix.casefold(), set()).add(name)
    for columns_by_part in dates.values():
        if len(columns_by_part) == len(_DATE_PARTS):
            yield "date", set(columns_by_part.values())
    for names in lags.values():
        yield "lags", names
    for names in codes.values():
        if len(names) >= MIN_CODES and _exclude_each_other(rows[sorted(names)]):
            yield "codes", names


def _is_code(column: pd.Series) -> bool:
    if column_kind(column) is ColumnKind.BOOLEAN:
        return True
    return column_kind(column) is ColumnKind.NUMBER and set(column.dropna().unique()) <= {0, 1}


def _exclude_each_other(codes: pd.DataFrame) -> bool:
    ones = codes.astype("float64").fillna(0.0).sum(axis=1)
    return bool((ones > 1).mean() <= MAX_OVERLAP)


def _correlated(rows: pd.DataFrame, columns: Sequence[str]) -> Iterator[tuple[GroupReason, set[str]]]:
    """Yield clusters of numbers and dates in which each pair is correlated (complete linkage)."""
    ordered = [
        name
        for name in columns
        if column_kind(rows[name]) in (ColumnKind.NUMBER, ColumnKind.DATETIME, ColumnKind.BOOLEAN)
        and rows[name].nunique() > 1
    ]
    if len(ordered) < 2:
        return
    sample = rows[ordered].iloc[:: max(1, len(rows) // MAX_RANKED_ROWS)]
    ranks = pd.DataFrame({name: _to_number(sample[name]).rank() for name in ordered})
    correlation = ranks.corr(min_periods=len(sample) // 2).abs().fillna(0.0).to_numpy(copy=True)
    np.fill_diagonal(correlation, 1.0)
    distances = squareform(np.clip(1.0 - correlation, 0.0, 1.0), checks=False)
    clusters = fcluster(linkage(distances, "complete"), 1.0 - MIN_CORRELATION, "distance")
    for number in np.unique(clusters):
        yield "correlated", {ordered[place] for place in np.flatnonzero(clusters == number)}


def _to_number(column: pd.Series) -> pd.Series:
    if column_kind(column) is ColumnKind.DATETIME:
        return column.astype("int64").where(column.notna())
    return column.astype("float64")
