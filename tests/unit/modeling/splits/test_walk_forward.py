"""Walk-forward pairs, compared with a brute-force check of every row."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from app.modeling.splits.walk_forward import time_blocks, walk_forward


@st.composite
def label_spans(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Rows in any order, several at a moment, each with a label of its own length; some labels never end."""
    count = draw(st.integers(12, 60))
    begins = np.array(draw(st.lists(st.integers(0, 40), min_size=count, max_size=count)), dtype=float)
    lengths = np.array(draw(st.lists(st.integers(0, 9), min_size=count, max_size=count)), dtype=float)
    ends = begins + lengths
    ends[np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count))) & (lengths > 7)] = np.nan
    return begins, ends


@settings(max_examples=80, deadline=None)
@given(spans=label_spans(), count=st.integers(2, 6))
def test_walk_forward_trains_on_all_labels_known_before_each_test_block(spans, count):
    begins, ends = spans
    blocks = time_blocks(begins, count)
    tested: set[int] = set()
    for train, test in walk_forward(blocks, begins, ends):
        first = begins[test].min()
        known = [row for row in range(len(begins)) if begins[row] < first and ends[row] < first]
        assert sorted(train.tolist()) == known
        assert not tested & set(test.tolist()), "a row is tested once"
        tested |= set(test.tolist())
    assert tested == set(range(len(begins))) - set(blocks[0].tolist())


@settings(max_examples=40, deadline=None)
@given(spans=label_spans(), count=st.integers(2, 6))
def test_walk_forward_without_label_ends_trains_on_all_earlier_rows(spans, count):
    begins, _ = spans
    for train, test in walk_forward(time_blocks(begins, count), begins, None):
        assert sorted(train.tolist()) == np.flatnonzero(begins < begins[test].min()).tolist()


@settings(max_examples=80, deadline=None)
@given(spans=label_spans(), count=st.integers(1, 8))
def test_time_blocks_cover_every_row_once_and_split_no_moment(spans, count):
    begins, _ = spans
    blocks = time_blocks(begins, count)
    assert 1 <= len(blocks) <= count
    assert sorted(np.concatenate(blocks).tolist()) == list(range(len(begins)))
    for earlier, later in pairwise(blocks):
        assert begins[earlier].max() < begins[later].min()
