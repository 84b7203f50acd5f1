"""Intervals of means and shares against their textbook formulas."""

import duckdb
import pytest

from app.plans import build
from app.plans.compiler import compile_plan
from app.plans.intervals import show_intervals
from app.plans.plan import DatasetSource, Plan, Step

SCHEMAS = {"t": {"g": "text", "x": "number", "b": "boolean"}}


def compute(*steps: Step) -> list[tuple[object, ...]]:
    plan = Plan(source=DatasetSource(kind="dataset", table="t"), steps=[*steps])
    names = [*compile_plan(plan, SCHEMAS).columns]  # type: ignore[arg-type]
    shown = show_intervals(plan, names)
    assert shown is not None
    with duckdb.connect() as database:
        database.execute(
            "CREATE TABLE t AS SELECT * FROM (VALUES ('a', 1.0, true), ('a', 2.0, false),"
            " ('a', 6.0, false), ('b', 4.0, true)) AS v(g, x, b)"
        )
        return database.execute(compile_plan(shown, SCHEMAS).sql).fetchall()  # type: ignore[arg-type]


def test_means_by_the_normal_approximation_and_single_rows_without_an_interval() -> None:
    first, second = compute(build.group(["g"], [build.aggregation("m", "mean", "x")]), build.sort(("g", False)))
    half = 1.959964 * (7**0.5) / 3**0.5
    assert first[3:] == pytest.approx((3 - half, 3 + half))
    assert second[3:] == (None, None)


def test_shares_by_wilson() -> None:
    [(share, rows, low, high)] = compute(build.group([], [build.aggregation("s", "share_true", "b")]))
    assert (share, rows) == (0.5, 4)
    # statsmodels: proportion_confint(2, 4, method="wilson").
    assert (low, high) == pytest.approx((0.150036, 0.849964), abs=1e-5)


def test_totals_have_no_interval() -> None:
    total = build.group(["g"], [build.aggregation("m", "sum", "x")])
    plan = Plan(source=DatasetSource(kind="dataset", table="t"), steps=[total])
    assert show_intervals(plan, ["g", "m"]) is None
