"""Messages that make a table of random rows."""

from typing import Any

import pytest

from app.agents.assistant.tables.random_tables import MadeTable, UnclearTable, parse_made_table


def make(message: str, *existing: str) -> MadeTable:
    made = parse_made_table(message, existing)
    assert isinstance(made, MadeTable), made
    return made


def columns(table: MadeTable) -> list[dict[str, Any]]:
    source = table.plan.model_dump(mode="json", exclude_defaults=True)["source"]
    return list(source["columns"])


def test_dates_ranges_and_values_become_columns_and_the_rest_is_left() -> None:
    table = make(
        "make a sample data set of 100 rows with dates, random sales between 100 and 1000 and categories A, B, "
        "C, and show average sales by category as a bar chart"
    )
    assert columns(table) == [
        {"name": "date", "type": "datetime"},
        {"name": "sales", "type": "integer", "low": 100.0, "high": 1000.0},
        {"name": "category", "type": "choice", "values": ["A", "B", "C"]},
    ]
    assert table.rest == "show average sales by category as a bar chart"
    assert table.make_sql().startswith('CREATE TABLE "sample" AS SELECT')
    assert "100 random rows of date, sales, category. date begins on" in table.describe()


def test_values_stand_in_parentheses_or_behind_a_word_for_them() -> None:
    table = make(
        "create a test table of 50 customers with an id, a city (Bern, Basel, Thun), a sensor of s1, s2, s3 "
        "and a boolean churned flag",
        "customers",
    )
    assert table.name == "customers_2"
    assert columns(table) == [
        {"name": "id", "type": "index"},
        {"name": "city", "type": "choice", "values": ["Bern", "Basel", "Thun"]},
        {"name": "sensor", "type": "choice", "values": ["s1", "s2", "s3"]},
        {"name": "churned", "type": "boolean"},
    ]


def test_a_number_of_rows_tells_that_a_table_is_made_up() -> None:
    table = make("create a data set of 1,000 rows with dates and sales from 1 to 9")
    assert table.plan.source.model_dump()["rows"] == 1_000
    assert [column["name"] for column in columns(table)] == ["date", "sales"]


def test_what_a_message_leaves_open_is_said() -> None:
    table = make("generate a dummy dataset with monthly dates from 2020-01-01 and cost")
    assert columns(table)[0] == {"name": "month", "type": "datetime", "start": "2020-01-01", "unit": "month"}
    assert len(table.readings) == 2


def test_a_table_that_cannot_be_made_is_explained() -> None:
    for message, part in (
        ("make 5,000,000 random rows with sales from 1 to 9", "1,000,000 rows"),
        ("make a sample table with sales from 9 to 1", "from 9 down to 1"),
        ("make a sample table with dates starting 2024-13-45", "There is no date 2024-13-45."),
        ("make a sample table with sales from 1 to 9000000000000", "The column sales is refused. high:"),
        (f"make a sample table with a code ({', '.join('1' * 101)})", "code is refused. values:"),
        (f"make a sample table with {', '.join(f'v{n} from 1 to 9' for n in range(60))}", "columns:"),
        ("make a sample table with sales from 1 to 9 and sales from 2 to 3", "same name"),
    ):
        made = parse_made_table(message, [])
        assert isinstance(made, UnclearTable), message
        assert part in made.reason


@pytest.mark.parametrize(
    "message",
    [
        "make a chart with revenue by region",
        "create a table with the total by region",
        "give me 10 rows with the highest revenue",
        "generate a report with all rows of orders",
        "create a table of 10 rows with the highest revenue",
        "make a table of 10 rows with revenue above 100",
    ],
)
def test_other_requests_make_no_table(message: str) -> None:
    assert parse_made_table(message, []) is None
