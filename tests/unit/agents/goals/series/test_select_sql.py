"""The SELECT that turns a number into yes or no."""

import duckdb

from app.agents.goals.series.select_sql import Cut, cut_name, select_with_cut


def test_a_threshold_keeps_all_its_digits() -> None:
    rows = "SELECT unnest([1250504, 1250506, NULL]) AS price"
    selected = duckdb.sql(select_with_cut(rows, "price", Cut(above=True, value=1_250_505.0))).fetchall()
    assert sorted(answer for (answer,) in selected) == ["no", "yes"]


def test_a_value_that_meets_its_own_bound_is_on_the_side_of_yes() -> None:
    rows = "SELECT unnest([3, 4, 5]) AS csat"
    cut = Cut(above=True, value=4.0, is_inclusive=True)
    selected = duckdb.sql(select_with_cut(rows, "csat", cut)).fetchall()
    assert [answer for (answer,) in selected] == ["no", "yes", "yes"]
    assert cut_name("csat", cut) == "csat_at_least_4"
