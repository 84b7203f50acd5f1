"""Sales of a table of sales: their number counts rows, and sales alone are money."""

import pytest

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.parser import parse_question

SALES = TableProfile(
    "cafe_sales",
    3_000,
    (
        Column("sold_at", "datetime", "datetime", 2_800, low="2023-01-01T07:00:00", high="2024-06-30T18:00:00"),
        Column("store", "text", "category", 2, top=("Harbour", "Station"), values=("Harbour", "Station")),
        Column("item", "text", "category", 2, top=("Latte", "Bagel"), values=("Latte", "Bagel")),
        Column("quantity", "integer", "numeric", 4, low=1, high=4),
        Column("unit_price", "number", "numeric", 6, low=2.4, high=3.8),
    ),
)
ROWS, MONEY = "the number of rows", "the total of (`unit_price` * `quantity`)"


@pytest.mark.parametrize(
    ("question", "figure"),
    [
        ("number of sales", ROWS),
        ("how many sales were there at Harbour", ROWS),
        ("number of sales by store and item", ROWS),
        ("count of sales per store", ROWS),
        ("show me the last 10 sales", "the rows"),
        ("total sales", MONEY),
        ("sales by store", MONEY),
    ],
)
def test_sales_are_rows_where_they_are_counted(question: str, figure: str) -> None:
    parsed = parse_question(question, [SALES])
    assert isinstance(parsed, ParsedQuestion)
    assert parsed.description.startswith(figure)


@pytest.mark.parametrize("question", ["headcount by store and item", "count by store, item"])
def test_a_second_noun_behind_a_group_is_a_group(question: str) -> None:
    parsed = parse_question(question, [SALES])
    assert isinstance(parsed, ParsedQuestion)
    assert parsed.description == f"{ROWS} for each `store` and `item`, from `cafe_sales`"


DAYS = TableProfile(
    "sales",
    500,
    (
        Column("day", "datetime", "datetime", 500, unique=True, low="2023-01-01", high="2024-05-14"),
        Column("store", "text", "category", 2, top=("Harbour", "Station"), values=("Harbour", "Station")),
        Column("sales", "integer", "numeric", 90, low=10, high=99),
    ),
)


@pytest.mark.parametrize(
    "question", ["how many sales were there in May 2023?", "number of sales by store", "sales by month"]
)
def test_sales_are_summed_where_a_column_has_their_number(question: str) -> None:
    parsed = parse_question(question, [DAYS])
    assert isinstance(parsed, ParsedQuestion)
    assert parsed.description.startswith("the total of `sales`")
