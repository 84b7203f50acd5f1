"""Figures from sorted values are those that pandas gives."""

import numpy as np
import pandas as pd
import pytest

from app.modeling.table.column_stats import ColumnStats


def test_figures_agree_with_pandas() -> None:
    values = pd.Series(np.random.default_rng(0).normal(size=500)).round(1)
    values[::7] = np.nan
    measure = ColumnStats.from_column(values)
    assert measure.missing_share == pytest.approx(values.isna().mean())
    assert measure.distinct_count == values.nunique()
    for share in (0.0, 0.25, 0.5, 0.9, 1.0):
        assert measure.quantile(share) == pytest.approx(values.quantile(share))
    assert measure.count_outside(-1, 1) == int(((values < -1) | (values > 1)).sum())


def test_nothing_has_no_figures() -> None:
    measure = ColumnStats.from_column(pd.Series([None, None], dtype="float64"))
    assert (measure.missing_share, measure.distinct_count) == (1.0, 0)
    assert np.isnan(measure.quantile(0.5))
