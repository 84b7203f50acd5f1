"""Specifications of charts: axes, bins and names of fields."""

import json
import math

import pytest

from app.charts.axis_titles import axis_title
from app.charts.chart_request import ChartRequest
from app.charts.encoding import choose_encoding
from app.charts.row_plans import choose_bin_width
from app.charts.specification import ChartRows, make_specification
from app.charts.time_labels import time_labels
from app.errors import InvalidInput
from app.plans.plan import DatasetSource, Plan

PLAN = Plan(source=DatasetSource(kind="dataset", table="orders"))


def test_long_labels_lie_on_their_side() -> None:
    schema = {"country": "text", "people": "integer"}
    encoding = choose_encoding(ChartRequest(kind="bar", plan=PLAN), schema)  # type: ignore[arg-type]
    rows = [{"country": "Liechtenstein", "people": 3}, {"country": "Austria", "people": 2}]
    specification = make_specification(encoding, ChartRows(rows, schema), "People")  # type: ignore[arg-type]
    assert specification["encoding"]["y"]["field"] == "country"
    assert specification["encoding"]["y"]["sort"] is None
    assert specification["datasets"]["rows"] == rows


def test_bars_that_lie_beside_each_other_have_room() -> None:
    schema = {"category": "text", "channel": "text", "total": "number"}
    encoding = choose_encoding(ChartRequest(kind="bar", plan=PLAN), schema)  # type: ignore[arg-type]
    rows = [
        {"category": category, "channel": channel, "total": 1.0}
        for category in ("Accessories", "Clothing", "Parts", "Workshop", "Bikes")
        for channel in ("phone", "store", "web")
    ]
    grouped = make_specification(encoding, ChartRows(rows, schema), "Total")  # type: ignore[arg-type]
    single = make_specification(encoding, ChartRows(rows[::3], schema), "Total")  # type: ignore[arg-type]
    assert grouped["encoding"]["yOffset"]["field"] == "channel"
    assert grouped["height"] == 3 * single["height"]


def test_names_that_vega_would_take_apart_are_replaced() -> None:
    schema = {"a.b[0]": "text", "total revenue": "number"}
    encoding = choose_encoding(ChartRequest(kind="bar", plan=PLAN), schema)  # type: ignore[arg-type]
    rows = [{"a.b[0]": "x", "total revenue": 1.0}]
    specification = make_specification(encoding, ChartRows(rows, schema), "")  # type: ignore[arg-type]
    assert specification["datasets"]["rows"] == [{"c0": "x", "c1": 1.0}]


def test_a_drawing_shows_characters_that_turn_the_text_behind_them() -> None:
    turned, shown = "annual\u202egpj", "annual[U+202E]gpj"
    schema = {turned: "text", "total": "integer"}
    encoding = choose_encoding(ChartRequest(kind="bar", plan=PLAN), schema)  # type: ignore[arg-type]
    rows = ChartRows([{turned: turned, "total": 3}], schema)  # type: ignore[arg-type]
    specification = make_specification(encoding, rows, turned)
    assert "\u202e" not in json.dumps(specification, ensure_ascii=False)
    assert (specification["title"], shown in specification["datasets"]["rows"][0].values()) == (shown, True)


def test_correlations_fill_both_halves_and_the_diagonal() -> None:
    encoding = choose_encoding(ChartRequest(kind="heatmap", plan=PLAN), {"a": "number", "b": "number"})
    schema = {"first": "text", "second": "text", "correlation": "number", "rows": "integer"}
    rows = [{"first": "a", "second": "b", "correlation": -0.5, "rows": 9}]
    specification = make_specification(encoding, ChartRows(rows, schema), "")  # type: ignore[arg-type]
    values = {(r["first"], r["second"]): r["correlation"] for r in specification["datasets"]["rows"]}
    assert values == {("a", "a"): 1.0, ("a", "b"): -0.5, ("b", "a"): -0.5, ("b", "b"): 1.0}


@pytest.mark.parametrize(
    ("moments", "labels"),
    [
        (["2025-01-01", "2025-02-01T00:00:00", None], {"format": "%b %Y"}),
        (["2024-01-01", "2025-01-01"], {"format": "%Y", "tickCount": "year"}),
        (["2025-01-01", "2025-01-02"], {}),
        (["2025-01-01T00:00:00", "2025-02-01T06:00:00"], {}),
        ([None], {}),
    ],
)
def test_months_are_labelled_with_their_year(moments: list[str | None], labels: dict[str, str]) -> None:
    assert time_labels(moments) == labels


@pytest.mark.parametrize(
    ("moments", "unit"),
    [
        (("2025-01-01", "2025-03-01"), "yearmonth"),
        (("2024-01-01", "2025-01-01"), "year"),
        (("2025-01-01", "2025-01-02"), "yearmonthdate"),
        (("2025-01-01T06:00:00", "2025-01-01T07:00:00"), None),
        (("2025-01-06", "2025-01-13", "2025-01-20"), None),
        (("1990-01-01", "2025-02-01"), None),
    ],
)
def test_bars_of_periods_are_as_wide_as_these(moments: tuple[str, ...], unit: str | None) -> None:
    schema = {"when": "datetime", "total": "number"}
    encoding = choose_encoding(ChartRequest(kind="bar", plan=PLAN), schema)  # type: ignore[arg-type]
    rows = [{"when": moment, "total": 1.0} for moment in moments]
    specification = make_specification(encoding, ChartRows(rows, schema), "Total")  # type: ignore[arg-type]
    assert specification["encoding"]["x"].get("timeUnit") == unit


def test_a_measure_needs_numbers() -> None:
    with pytest.raises(InvalidInput, match="measure needs numbers"):
        choose_encoding(
            ChartRequest(kind="bar", plan=PLAN, x="country", y=["capital"]),
            {"country": "text", "capital": "text"},
        )


@pytest.mark.parametrize(
    ("figures", "is_integer", "width"),
    [
        ((0, 9, 2, 7, 1_000, 10), True, 1.0),
        ((0.0, 1.0, 0.25, 0.75, 1_000, 900), False, 0.1),
        ((5, 5, 5, 5, 9, 1), True, 1.0),
    ],
)
def test_bins_have_round_widths(figures: tuple[float, ...], is_integer: bool, width: float) -> None:
    assert math.isclose(choose_bin_width(figures, is_integer), width)


@pytest.mark.parametrize(
    ("column", "title"),
    [("net_price_usd", "Net price (dollars)"), ("total revenue", "Total revenue"), ("HouseAge", "House Age")],
)
def test_titles_state_the_unit_of_a_column(column: str, title: str) -> None:
    assert axis_title(column) == title
