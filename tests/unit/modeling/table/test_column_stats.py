"""Column statistics equal those of pandas."""

import numpy as np
import pandas as pd
import pytest

from app.modeling.table.column_stats import ColumnStats


def test_statistics_agree_with_pandas() -> None:
    values = pd.Series(np.random.default_rng(0).normal(size=500)).round(1)
    values[::7] = np.nan
    stats = ColumnStats.from_column(values)
    assert stats.missing_share == pytest.approx(values.isna().mean())
    assert stats.distinct_count == values.nunique()
    for share in (0.0, 0.25, 0.5, 0.9, 1.0):
        assert stats.quantile(share) == pytest.approx(values.quantile(share))
    assert stats.count_outside(-1, 1) == int(((values < -1) | (values > 1)).sum())


def test_an_empty_column_has_no_quantiles() -> None:
    stats = ColumnStats.from_column(pd.Series([None, None], dtype="float64"))
    assert (stats.missing_share, stats.distinct_count) == (1.0, 0)
    assert np.isnan(stats.quantile(0.5))
