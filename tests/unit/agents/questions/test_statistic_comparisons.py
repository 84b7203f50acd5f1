"""Comparisons of rows with a statistic of all rows: mean, median, quantile, standard deviations."""

import duckdb
import pytest

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.parser import parse_question
from app.plans.compiler import compile_plan
from app.plans.schema import TableSchema

PRICES = (10, 12, 14, 16, 18, 20, 22, 24, 26, 100)
SCHEMA: TableSchema = {"loaf": "text", "price": "integer", "baker": "text", "grams": "integer"}
BAKERS = ("Ada", "Bo")
TABLES = (
    TableProfile(
        "loaves",
        10,
        (
            Column(
                "loaf",
                "text",
                "id",
                10,
                unique=True,
                top=("L0", "L1"),
                values=tuple(f"L{n}" for n in range(10)),
            ),
            Column("price", "integer", "numeric", 10, low=10, high=100),
            Column("baker", "text", "category", 2, top=BAKERS, values=BAKERS),
            Column("grams", "integer", "numeric", 10, low=400, high=1300),
        ),
    ),
)


def _answer(question: str) -> list[tuple[object, ...]]:
    parsed = parse_question(question, TABLES)
    assert isinstance(parsed, ParsedQuestion), parsed
    with duckdb.connect() as database:
        database.execute("CREATE TABLE loaves (loaf TEXT, price INTEGER, baker TEXT, grams INTEGER)")
        for n, price in enumerate(PRICES):
            row = (f"L{n}", price, BAKERS[n % 2], 400 + 100 * n)
            database.execute("INSERT INTO loaves VALUES (?, ?, ?, ?)", row)
        return database.execute(compile_plan(parsed.plan, {"loaves": SCHEMA}).sql).fetchall()


@pytest.mark.parametrize(
    ("question", "number"),
    [
        ("how many loaves have a price above the mean", 1),
        ("how many loaves have a price above the median", 5),
        ("number of loaves heavier than average", 5),
        ("number of loaves heavier than the median", 5),
        ("how many loaves have a price of more than twice the average", 1),
        ("how many loaves have a price below half the mean price", 2),
        ("how many loaves have a price more than 2 standard deviations from the mean", 1),
    ],
)
def test_rows_are_counted_by_a_statistic_of_all_rows(question: str, number: int) -> None:
    assert _answer(question)[0][0] == number


@pytest.mark.parametrize(
    ("question", "loaves"),
    [
        ("list loaves with a price in the top 20 percent", {"L8", "L9"}),
        ("which loaves have a price in the bottom 10 %", {"L0"}),
        ("which loaves have a z-score of the price above 2", {"L9"}),
        ("standardise the price and show outliers beyond 2 standard deviations", {"L9"}),
        ("which loaves have a higher price than the median", {"L5", "L6", "L7", "L8", "L9"}),
    ],
)
def test_rows_are_listed_by_a_statistic_of_all_rows(question: str, loaves: set[str]) -> None:
    assert {cell for row in _answer(question) for cell in row if str(cell).startswith("L")} == loaves


@pytest.mark.parametrize(
    ("question", "share"),
    [
        ("share of loaves with a price above the median", 0.5),
        ("what percentage of loaves have a price higher than the average", 0.1),
    ],
)
def test_a_share_is_one_of_all_rows_of_the_statistic(question: str, share: float) -> None:
    assert _answer(question) == [(share, 10)]


def test_the_cost_of_a_unit_is_that_of_all_units() -> None:
    assert _answer("what does a gram cost on average")[0][0] == pytest.approx(sum(PRICES) / 8500)


def test_a_list_by_standard_deviations_shows_the_standard_scores() -> None:
    [row] = _answer("standardise the price and list loaves with a z-score above 2")
    assert any(cell == pytest.approx(2.7912, rel=1e-3) for cell in row if isinstance(cell, float))
