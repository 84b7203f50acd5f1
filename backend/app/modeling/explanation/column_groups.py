"""Groups of raw columns that are explained together: codes of a category, parts of a date, lags, correlates,
and categories that the words of a text tell.

Shuffling one column of such a group leaves its content in the others, so that each seems to matter little.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import csr_matrix
from scipy.spatial.distance import squareform
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.naive_bayes import MultinomialNB

from app.modeling.table.column_kinds import ColumnKind, column_kind

MIN_CORRELATION = 0.9
"""Absolute rank correlation from which columns are one group: a variance inflation of 5, beyond which single
coefficients are commonly taken for meaningless."""
MAX_RANKED_ROWS = 2000
"""Rows whose ranks are correlated: the correlation is then known to 0.01 at 0.9."""
MIN_CODES = 3
"""Columns of ones and zeros that make a set of codes; two are more often two facts."""
MAX_OVERLAP = 0.01
"""Share of rows with more than one code of a set, as misread cells may cause."""

MIN_TOLD = 0.8
"""Share of the mistakes of always naming the most frequent value (Goodman and Kruskal's lambda) that the words
of a text avoid on other rows, from which on they tell the category: `Mrs` in a name avoids nearly all for the
sex."""
MAX_TOLD_VALUES = 20
"""Values of a category that words may tell: with more there are too few rows of each to learn it from."""
MIN_TEXT_ROWS = 50
"""Rows from which it is judged what words tell."""

GroupReason = Literal["single", "codes", "date", "lags", "correlated", "words"]

_PART = re.compile(r"[a-z]+|\d+")
_SEPARATOR = re.compile(r"[_.=:\s]")
_LAGS = frozenset({"lag", "lagged", "shift", "shifted", "prev"})
_WORD = r"[^\W\d_]{2,}"
_DATE_PARTS = frozenset({"year", "month", "day"})


@dataclass(frozen=True)
class ColumnGroup:
    """Columns that are shuffled together, the most related to the target first; a text after what it tells."""

    columns: tuple[str, ...]
    reason: GroupReason = "single"

    @property
    def label(self) -> str:
        return ", ".join(self.columns)


def group_columns(rows: pd.DataFrame, columns: Sequence[str]) -> list[ColumnGroup]:
    """Group columns; each is in one group. Groups, and columns within them, keep the given order."""
    groups: list[ColumnGroup] = []
    remaining = list(columns)
    # The surest evidence first: a column stays in the first group that claims it.
    candidates = (
        *_named_groups(rows, remaining),
        *_correlated(rows, remaining),
        *_told_by_words(rows, remaining),
    )
    for reason, names in candidates:
        members = tuple(name for name in remaining if name in names)
        if reason == "words":
            is_text = {name: column_kind(rows[name]) is ColumnKind.TEXT for name in members}
            members = tuple(sorted(members, key=is_text.__getitem__))
        if len(members) > 1:
            groups.append(ColumnGroup(members, reason))
            remaining = [name for name in remaining if name not in members]
    groups += [ColumnGroup((name,)) for name in remaining]
    places = {name: place for place, name in enumerate(columns)}
    return sorted(groups, key=lambda group: min(places[name] for name in group.columns))


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
    # Evenly spaced rows, since the first ones of a sorted file do not stand for the others.
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


def _told_by_words(rows: pd.DataFrame, columns: Sequence[str]) -> Iterator[tuple[GroupReason, set[str]]]:
    """Yield each text with the categories that its words tell: shuffled alone, neither would be missed."""
    sample = rows.iloc[:: max(1, len(rows) // MAX_RANKED_ROWS)]
    if len(sample) < MIN_TEXT_ROWS:
        return
    kinds = {name: column_kind(rows[name]) for name in columns}
    categories = [name for name in columns if kinds[name] in (ColumnKind.CATEGORY, ColumnKind.BOOLEAN)]
    for text in (name for name in columns if kinds[name] is ColumnKind.TEXT):
        words = _count_words(sample[text])
        implied = {name for name in categories if words is not None and _tells(words, sample[name])}
        if implied:
            yield "words", {text, *implied}


def _count_words(texts: pd.Series) -> csr_matrix | None:
    """Count the words that several rows have: (rows, words); None if there are none, as in identifiers.

    Numbers are no words: those of tickets and of houses tell rows apart, not kinds."""
    vectorizer = CountVectorizer(binary=True, min_df=2, token_pattern=_WORD)
    try:
        return vectorizer.fit_transform(texts.astype("string").fillna(""))
    except ValueError:  # no word is left
        return None


def _tells(words: csr_matrix, category: pd.Series) -> bool:
    """Test if the values follow from the words, by folds."""
    # A missing value is a value here: that nothing is known can follow from the words too.
    values = pd.factorize(category.astype("string"), use_na_sentinel=False)[0]
    counts = np.bincount(values)
    mistakes = len(values) - counts.max()
    if not 2 <= len(counts) <= MAX_TOLD_VALUES or not mistakes:
        return False
    # Naive Bayes is enough: single words give such a category away, and it learns in milliseconds.
    folds = KFold(5, shuffle=True, random_state=0)
    wrong = np.count_nonzero(cross_val_predict(MultinomialNB(), words, values, cv=folds) != values)
    return bool(1.0 - wrong / mistakes >= MIN_TOLD)
