from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.modeling.splits.walk_forward import time_blocks


@given(st.lists(st.integers(0, 12), min_size=1, max_size=80), st.integers(1, 8))
def test_blocks_lie_one_after_the_other_and_divide_no_moment(times: list[int], count: int) -> None:
    begins = np.array(times)
    blocks = time_blocks(begins, count)
    assert len(blocks) == min(count, len(set(times)))
    assert sorted(np.concatenate(blocks)) == list(range(len(times)))
    for earlier, later in pairwise(blocks):
        assert begins[earlier].max() < begins[later].min()


def test_moments_of_their_own_make_blocks_of_equal_size() -> None:
    assert [len(block) for block in time_blocks(np.arange(100), 5)] == [20] * 5
