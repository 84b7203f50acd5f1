"""Splits of rows whose labels look ahead, as scikit-learn splitters.

A row at time t whose label is known at time u tells of [t, u]. Rows whose span overlaps with that of a test row
may not teach (purging), nor may rows that begin within the embargo after one. López de Prado (2018), chapters 7
and 12.
"""

from collections.abc import Iterator
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator

from app.errors import InvalidInput

Pair = tuple[np.ndarray, np.ndarray]


def purged(
    train: np.ndarray, test: np.ndarray, begins: np.ndarray, ends: np.ndarray, embargo: Any = 0
) -> np.ndarray:
    """The training rows that tell nothing of the test rows.

    `train`, `test`: positions. `begins`, `ends`: when each row is, and when its label is known (not before it).
    `embargo`: how long after a test row's label nothing may teach, in the unit of the times. A row that has no
    label (its end is missing) never teaches.
    """
    spans = _merged(begins[test], ends[test] + embargo)
    if spans is None:
        return train
    starts, stops = spans
    # Of spans apart, the last one that begins before a training row's end is the one that could reach the row.
    place = np.searchsorted(starts, ends[train], side="right") - 1
    overlaps = (place >= 0) & (stops[place] >= begins[train])
    kept: np.ndarray = train[~overlaps & ~_unknown(ends[train])]
    return kept


def _merged(begins: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Overlapping spans made one, in order; None where there is none."""
    known = ~_unknown(ends)
    begins, ends = begins[known], ends[known]
    if not len(begins):
        return None
    order = np.argsort(begins, kind="stable")
    begins, ends = begins[order], np.maximum.accumulate(ends[order])
    first = np.concatenate([[True], begins[1:] > ends[:-1]])
    last = np.concatenate([first[1:], [True]])
    return begins[first], ends[last]


def _unknown(times: np.ndarray) -> np.ndarray:
    return np.asarray(np.isnat(times) if times.dtype.kind in "mM" else np.isnan(times.astype("float64")))


class _InTime(BaseCrossValidator):  # type: ignore[misc]  # scikit-learn has no types
    """What the splitters share: the rows' times, and when their labels are known."""

    def __init__(self, begins: Any, ends: Any = None, embargo: Any = 0) -> None:
        self.begins = begins
        self.ends = ends
        self.embargo = embargo

    def split(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[Pair]:
        """Positions of training and test rows. Raises InvalidInput `bad_split` where the times do not fit."""
        begins, ends = np.asarray(self.begins), np.asarray(self.begins if self.ends is None else self.ends)
        rows = len(begins) if X is None else len(X)
        if len(begins) != rows or len(ends) != rows:
            raise InvalidInput("bad_split", f"There are {rows} rows and {len(begins)} times.")
        yield from self._pairs(begins, ends)

    def _pairs(self, begins: np.ndarray, ends: np.ndarray) -> Iterator[Pair]:
        raise NotImplementedError


class WalkForward(_InTime):
    """Each fold tests what comes after all it learns from, and the next one begins where it ended.

    `n_splits` blocks of time of about equal rows are tested after a first one that only teaches; rows of one
    moment stay together. `longest`: the most rows to learn from, the latest; all where None. The embargo lies
    before the test rows: a row whose label is known later than that teaches nothing.
    """

    def __init__(
        self, begins: Any, ends: Any = None, embargo: Any = 0, n_splits: int = 5, longest: int | None = None
    ) -> None:
        super().__init__(begins, ends, embargo)
        self.n_splits = n_splits
        self.longest = longest

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return self.n_splits

    def _pairs(self, begins: np.ndarray, ends: np.ndarray) -> Iterator[Pair]:
        blocks = _blocks(begins, self.n_splits + 1)
        for train, test in walk(blocks, begins, None if self.ends is None else ends, self.embargo):
            yield train[-self.longest :] if self.longest else train, test


class PurgedKFold(_InTime):
    """Blocks of time in turn are tested; all others teach, purged and embargoed."""

    def __init__(self, begins: Any, ends: Any = None, embargo: Any = 0, n_splits: int = 5) -> None:
        super().__init__(begins, ends, embargo)
        self.n_splits = n_splits

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return self.n_splits

    def _pairs(self, begins: np.ndarray, ends: np.ndarray) -> Iterator[Pair]:
        blocks = _blocks(begins, self.n_splits)
        for place in range(len(blocks)):
            yield _pair(blocks, (place,), begins, ends, self.embargo)


class CombinatorialPurged(_InTime):
    """Every `tested` of `n_blocks` blocks of time are tested together: many paths through the same time."""

    def __init__(
        self, begins: Any, ends: Any = None, embargo: Any = 0, n_blocks: int = 6, tested: int = 2
    ) -> None:
        super().__init__(begins, ends, embargo)
        self.n_blocks = n_blocks
        self.tested = tested

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return comb(self.n_blocks, self.tested)

    @property
    def paths(self) -> int:
        """How many times each row is tested: so many whole paths can be put together."""
        return comb(self.n_blocks - 1, self.tested - 1)

    def _pairs(self, begins: np.ndarray, ends: np.ndarray) -> Iterator[Pair]:
        blocks = _blocks(begins, self.n_blocks)
        for chosen in combinations(range(len(blocks)), self.tested):
            yield _pair(blocks, chosen, begins, ends, self.embargo)


def walk(
    blocks: list[np.ndarray], begins: np.ndarray, ends: np.ndarray | None, embargo: Any = 0
) -> Iterator[Pair]:
    """Each block but the first, and of the rows before it those whose label is known an embargo before it
    begins; `ends` None: all rows before it."""
    for place, test in enumerate(blocks[1:], start=1):
        train = np.concatenate(blocks[:place])
        if ends is not None:
            train = train[ends[train] + embargo < begins[test[0]]]
        yield train, test


def _blocks(begins: np.ndarray, count: int) -> list[np.ndarray]:
    blocks = blocks_of(begins, count)
    if len(blocks) < count:
        raise InvalidInput("bad_split", f"There are too few moments for {count} blocks of time.")
    return blocks


def blocks_of(begins: np.ndarray, count: int) -> list[np.ndarray]:
    """Positions in blocks of time of about equal rows; fewer where many rows share a moment."""
    order = np.argsort(begins, kind="stable")
    times = begins[order]
    bounds = np.linspace(0, len(order), count + 1).astype(int)[1:-1]
    cuts = np.unique(np.searchsorted(times, times[bounds], side="left"))
    return [block for block in np.split(order, cuts) if len(block)]


def _pair(
    blocks: list[np.ndarray], chosen: tuple[int, ...], begins: np.ndarray, ends: np.ndarray, embargo: Any
) -> Pair:
    test = np.concatenate([blocks[place] for place in chosen])
    rest = [block for place, block in enumerate(blocks) if place not in chosen]
    train = np.concatenate(rest) if rest else np.zeros(0, dtype=int)
    return purged(train, test, begins, ends, embargo), test
