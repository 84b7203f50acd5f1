"""Metrics of a field and superlatives of ratios: totals by totals, or of single rows their own ratio."""

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from tests.unit.agents.questions.query_answers import answer, open_tables
from tests.unit.agents.questions.test_flags_and_entities import make_number, make_text

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.rewording.metrics_of_field import reword_field_metrics

ADS = TableProfile(
    "ads",
    4,
    (
        Column("ad_id", "integer", "id", 4, unique=True, low=1, high=4),
        make_text("campaign", "spring", "brand"),
        make_number("impressions", 100, 400),
        make_number("clicks", 10, 40),
        make_number("spend_usd", 5, 20),
        make_number("revenue_usd", 10, 90),
    ),
)
ROWS = """
    (1, 'spring', 100, 10, 5.0, 10.0), (2, 'spring', 300, 10, 5.0, 50.0),
    (3, 'brand', 400, 40, 20.0, 90.0), (4, 'brand', 100, 20, 10.0, 30.0)
"""


@pytest.fixture(scope="module")
def ads() -> Iterator[duckdb.DuckDBPyConnection]:
    with open_tables({ADS: ROWS}) as connection:
        yield connection


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("ctr by campaign", {("brand", 0.12), ("spring", 0.05)}),
        ("overall roas", {(4.5,)}),
        ("which campaign has the best roas?", {("spring", 6.0)}),
        ("which campaign has the highest revenue per click?", {("spring", 3.0)}),
        ("ad with the lowest revenue per click", {(1, 1.0)}),
    ],
)
def test_a_metric_is_a_ratio_of_totals(
    ads: duckdb.DuckDBPyConnection, question: str, expected: set[tuple[Any, ...]]
) -> None:
    width = len(next(iter(expected)))
    # The totals of a ratio stand behind it.
    assert {row[:width] for row in answer(ads, question, ADS)} == expected


def test_a_stored_metric_and_one_of_which_a_column_lacks_stay() -> None:
    stored = TableProfile("ads", 4, (*ADS.columns, make_number("ctr", 0.01, 0.2)))
    assert reword_field_metrics("mean CTR", [stored]) == "mean CTR"
    assert reword_field_metrics("mean CTR", [ADS]) == "mean `clicks` per `impressions`"
    assert reword_field_metrics("cvr by campaign", [ADS]) == "cvr by campaign"
