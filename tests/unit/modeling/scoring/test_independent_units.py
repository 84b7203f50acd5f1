"""Units of rows: their numbers, blocks of moments, parts of the rows and degrees of freedom."""

import math

import numpy as np
import pytest

from app.modeling.scoring.independent_units import IndependentUnits, UnitKind


def test_blocks_are_made_of_moments_not_of_rows() -> None:
    moments = np.repeat(np.arange(100), 51)
    units = IndependentUnits.of_moments(moments, overlap=3)
    assert (units.block_length, units.count) == (6, 16)
    assert len(np.unique(units.unit_of_row[:51])) == 1
    assert np.bincount(units.unit_of_row).min() >= 6 * 51


@pytest.mark.parametrize(("moments", "length", "count"), [(200, 24, 8), (60, 12, 5), (30, 12, 2), (11, 12, 1)])
def test_blocks_are_at_least_as_long_as_labels_overlap(moments: int, length: int, count: int) -> None:
    units = IndependentUnits.of_moments(np.arange(moments), overlap=12)
    assert (units.block_length, units.count) == (length, count)


def test_a_part_of_the_rows_keeps_its_groups_and_the_time_that_labels_overlap() -> None:
    groups = IndependentUnits.of_clusters(np.repeat(["a", "b", "c"], 10), UnitKind.GROUPS)
    assert groups.take(np.array([3, 4, 25])).unit_of_row.tolist() == [0, 0, 1]
    thinned = IndependentUnits.of_moments(np.arange(400), overlap=20).take(np.arange(100, 400, 4))
    assert (thinned.cluster_count, thinned.overlap) == (75, 6)


def test_one_large_group_leaves_fewer_degrees_of_freedom() -> None:
    equal = IndependentUnits.of_clusters(np.repeat(np.arange(8), 10), UnitKind.GROUPS)
    uneven = IndependentUnits.of_clusters(np.repeat(np.arange(8), [73, 1, 1, 1, 1, 1, 1, 1]), UnitKind.GROUPS)
    assert equal.effective_count == pytest.approx(8)
    assert uneven.effective_count < 2
    assert uneven.quantile(0.025) > 4 * equal.quantile(0.025)
    assert IndependentUnits.of_clusters(np.zeros(9), UnitKind.GROUPS).quantile(0.025) == math.inf


def test_rows_of_a_unit_are_drawn_and_left_out_together() -> None:
    units = IndependentUnits.of_clusters(np.repeat([0, 1, 2], [4, 1, 5]), UnitKind.GROUPS)
    for counts in (units.leave_each_out(), units.draw_poisson(20, 0)):
        assert (counts[:4] == counts[0]).all()
        assert (counts[5:] == counts[5]).all()
    assert units.leave_each_out().sum(axis=0).tolist() == [6, 9, 5]
