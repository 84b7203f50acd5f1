"""The SELECT that turns a number into yes or no."""

import duckdb

from app.agents.goals.series.select_sql import Cut, select_with_cut


def test_a_threshold_keeps_all_its_digits() -> None:
    rows = "SELECT unnest([1250504, 1250506, NULL]) AS price"
    selected = duckdb.sql(select_with_cut(rows, "price", Cut(above=True, value=1_250_505.0))).fetchall()
    assert sorted(answer for (answer,) in selected) == ["no", "yes"]
