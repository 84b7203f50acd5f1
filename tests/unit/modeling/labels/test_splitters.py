"""Splits against a brute-force check: no training row tells of a test row."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score

from app.errors import InvalidInput
from app.modeling.labels.splitters import CombinatorialPurged, PurgedKFold, WalkForward, purged


@st.composite
def spans(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Rows in any order, several at a moment, each with a label of its own length; some never get one."""
    count = draw(st.integers(12, 60))
    begins = np.array(draw(st.lists(st.integers(0, 40), min_size=count, max_size=count)), dtype=float)
    lengths = np.array(draw(st.lists(st.integers(0, 9), min_size=count, max_size=count)), dtype=float)
    ends = begins + lengths
    ends[np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count))) & (lengths > 7)] = np.nan
    return begins, ends


def overlaps(row: int, test: np.ndarray, begins: np.ndarray, ends: np.ndarray, embargo: float) -> bool:
    """Row by row: does what the row tells of meet what a test row tells of, or the embargo after it?"""
    if np.isnan(ends[row]):
        return True
    return any(
        begins[row] <= ends[other] + embargo and ends[row] >= begins[other]
        for other in test
        if not np.isnan(ends[other])
    )


def most_at_once(begins: np.ndarray) -> int:
    return int(np.unique(begins, return_counts=True)[1].max())


@settings(max_examples=80, deadline=None)
@given(rows=spans(), embargo=st.integers(0, 5), data=st.data())
def test_purging_is_what_a_look_at_every_pair_gives(rows, embargo, data):
    begins, ends = rows
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=len(begins), max_size=len(begins))))
    train, test = np.flatnonzero(~chosen), np.flatnonzero(chosen)
    kept = purged(train, test, begins, ends, embargo)
    expected = [row for row in train if not overlaps(row, test, begins, ends, embargo)]
    if not np.isfinite(ends[test]).any():
        expected = list(train)
    assert kept.tolist() == expected


@settings(max_examples=40, deadline=None)
@given(rows=spans(), embargo=st.integers(0, 5), count=st.integers(2, 6))
def test_no_fold_learns_what_its_test_rows_will_tell(rows, embargo, count):
    begins, ends = rows
    for splitter, blocks in (
        (PurgedKFold(begins, ends, embargo, count), count),
        (CombinatorialPurged(begins, ends, embargo, max(count, 3), 2), max(count, 3)),
    ):
        tested = []
        try:
            pairs = list(splitter.split(np.zeros(len(begins))))
        except InvalidInput:
            assert most_at_once(begins) >= len(begins) // blocks, "a moment fills a block"
            continue
        for train, test in pairs:
            assert not set(train) & set(test)
            if np.isfinite(ends[test]).any():
                assert not [row for row in train if overlaps(row, test, begins, ends, embargo)]
            assert not set(begins[test]) & set(np.delete(begins, test)), "a moment lies on both sides"
            tested += test.tolist()
        assert set(tested) == set(range(len(begins)))


@settings(max_examples=40, deadline=None)
@given(rows=spans(), embargo=st.integers(0, 5), count=st.integers(2, 5), longest=st.sampled_from([None, 4]))
def test_walking_forward_learns_only_what_was_known_when_the_test_began(rows, embargo, count, longest):
    begins, ends = rows
    seen: set[int] = set()
    try:
        pairs = list(WalkForward(begins, ends, embargo, count, longest).split())
    except InvalidInput:
        assert most_at_once(begins) >= len(begins) // (count + 1), "a moment fills a block"
        return
    for train, test in pairs:
        first = begins[test].min()
        assert all(ends[row] + embargo < first for row in train)
        known = [row for row in range(len(begins)) if begins[row] < first and ends[row] + embargo < first]
        assert set(train) <= set(known)
        assert len(train) == min(len(known), longest or len(known))
        assert not seen & set(test), "a row is tested once"
        seen |= set(test)


def test_every_row_lies_on_as_many_paths_as_the_combinations_say():
    times = np.arange(60.0)
    splitter = CombinatorialPurged(times, times, n_blocks=6, tested=2)
    counts = np.zeros(60, dtype=int)
    for _, test in splitter.split():
        counts[test] += 1
    assert set(counts) == {splitter.paths} == {5}
    assert splitter.get_n_splits() == len(list(combinations(range(6), 2)))


def test_they_are_splitters_of_scikit_learn_and_take_dates():
    times = pd.date_range("2025-01-01", periods=200, freq="h").to_numpy()
    ends = times + np.timedelta64(5, "h")
    chance = np.random.default_rng(0)
    inputs, labels = chance.normal(size=(200, 3)), chance.normal(size=200)
    hour = np.timedelta64(1, "h")
    for splitter in (WalkForward(times, ends, hour, 4), PurgedKFold(times, ends, hour, 4)):
        assert len(cross_val_score(Ridge(), inputs, labels, cv=splitter)) == splitter.get_n_splits() == 4
    [(train, test), *_] = PurgedKFold(times, ends, 3 * hour, 4).split()
    assert train.min() == test.max() + 5 + 3 + 1


def test_times_that_do_not_fit_the_rows_are_refused():
    with pytest.raises(InvalidInput, match="There are 9 rows"):
        next(WalkForward(np.arange(10.0)).split(np.zeros(9)))
