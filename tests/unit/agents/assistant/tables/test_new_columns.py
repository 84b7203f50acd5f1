"""Messages that make a column, read without a chat model."""

import pytest

from app.agents.assistant.tables.new_columns import NewColumn, UnclearColumn, parse_new_column
from app.agents.goals.tables.profiles import Column, TableProfile

COLUMNS = tuple(Column(name, "number", "numeric") for name in ("Revenue", "cost", "units"))
TABLES = [TableProfile("cities", 4), TableProfile("sales", 10, COLUMNS)]


@pytest.mark.parametrize(
    ("message", "name", "expression", "rest"),
    [
        (
            "create a column profit_margin = (revenue - cost) / revenue, "
            "then show its distribution as a histogram",
            "profit_margin",
            "(revenue - cost) / revenue",
            "show the distribution of profit_margin as a histogram",
        ),
        ("add a new column price to sales as revenue / units", "price", "revenue / units", ""),
        ("Please add a column called profit: revenue - cost.", "profit", "revenue - cost", ""),
        ("make a column half = round(units / 2, 1) and show it", "half", "round(units / 2, 1)", "show half"),
        (
            "create a column size = "
            "case when units > 9 then 'big' when units > 5 then 'fair' else 'small' end, then count rows by it",
            "size",
            "case when units > 9 then 'big' when units > 5 then 'fair' else 'small' end",
            "count rows by size",
        ),
        (
            "add a column mark = case when cost > 1 then 'a; then b' end",
            "mark",
            "case when cost > 1 then 'a; then b' end",
            "",
        ),
    ],
)
def test_a_column_is_read_with_its_expression_and_what_follows(
    message: str, name: str, expression: str, rest: str
) -> None:
    column = parse_new_column(message, TABLES)
    assert column == NewColumn("sales", name, expression, rest)


def test_the_statement_writes_the_table_with_the_column() -> None:
    column = NewColumn("sales", "profit", "revenue - cost", "")
    assert column.make_sql(["revenue", "cost"]) == (
        'CREATE OR REPLACE TABLE "sales" AS SELECT *, (revenue - cost) AS "profit" FROM "sales"'
    )
    assert "REPLACE ((revenue - cost) AS" in column.make_sql(["revenue", "cost", "Profit"])


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("create a column margin = (revenu - cost) / revenue", "Did you mean Revenue"),
        ("create a column margin = the usual one", "needs an expression"),
        ("create a column margin = (select 1)", "needs an expression"),
        ("add a column margin to shops as revenue - cost", "There is no table shops"),
    ],
)
def test_columns_that_cannot_be_made_are_explained(message: str, words: str) -> None:
    column = parse_new_column(message, TABLES)
    assert isinstance(column, UnclearColumn)
    assert words in column.reason


@pytest.mark.parametrize(
    "message",
    ["which column has the most missing values?", "mean revenue by units", "create a report", "add 2 and 3"],
)
def test_other_messages_make_no_column(message: str) -> None:
    assert parse_new_column(message, TABLES) is None
