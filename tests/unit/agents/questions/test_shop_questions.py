"""Plain questions of people who run a shop: rates, best months, who came back, who did not."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import duckdb
import pytest

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.parser import parse_question
from app.plans.compiler import compile_plan
from app.plans.schema import TableSchema

ROWS = """
    (1, timestamp '2025-03-03 09:00', 'Ada', 'Tea', 2, 5.0, timestamp '2025-03-05', 'no'),
    (2, timestamp '2025-03-10 10:00', 'Bob', 'Mug', 1, 9.0, timestamp '2025-03-20', 'yes'),
    (3, timestamp '2025-04-07 09:00', 'Ada', 'Tea', 4, 5.0, timestamp '2025-04-08', 'no'),
    (4, timestamp '2026-01-05 12:00', 'Ada', 'Mug', 3, 9.0, timestamp '2026-01-07', 'yes'),
    (5, timestamp '2026-02-02 09:00', 'Cid', 'Tea', 1, 5.0, null, 'no')
"""
SCHEMA: TableSchema = {
    "order_id": "integer",
    "ordered_at": "datetime",
    "customer": "text",
    "product": "text",
    "quantity": "integer",
    "unit_price": "number",
    "delivered_on": "datetime",
    "returned": "text",
}
ORDERS = TableProfile(
    "orders",
    500,
    (
        Column("order_id", "integer", "id", 500, unique=True, low=1, high=500),
        Column(
            "ordered_at", "datetime", "datetime", 480, low="2025-03-03T09:00:00", high="2026-02-02T09:00:00"
        ),
        Column("customer", "text", "category", 3, top=("Ada", "Bob", "Cid"), values=("Ada", "Bob", "Cid")),
        Column("product", "text", "category", 2, top=("Tea", "Mug"), values=("Tea", "Mug")),
        Column("quantity", "integer", "numeric", 4, low=1, high=4),
        Column("unit_price", "number", "numeric", 2, low=5.0, high=9.0),
        Column("delivered_on", "datetime", "datetime", 4, missing=20.0, low="2025-03-05", high="2026-01-07"),
        Column("returned", "text", "category", 2, top=("no", "yes"), values=("no", "yes")),
    ),
)


@pytest.fixture(scope="module")
def shop() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE orders AS SELECT * FROM (VALUES {ROWS}) AS t({', '.join(SCHEMA)})")
        yield connection


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("return rate by product", {("Tea", 0.0), ("Mug", 1.0)}),
        ("what was our best month?", {("2026-01", 27.0)}),
        ("busiest day of the week", {("Monday", 5)}),
        ("average order value", {(14.2,)}),
        ("how many customers ordered more than once?", {(1,)}),
        ("what share of customers ordered at least twice?", {(0.3333, 3)}),
        ("customers with no orders in 2026", {("Bob",)}),
        ("which customers did not order in 2026", {("Bob",)}),
        ("which product brings in the most money?", {("Mug", 36.0)}),
        ("top customer by revenue", {("Ada", 57.0)}),
        (
            "2 month moving average of revenue",
            {("2025-03", 19.0, 19.0), ("2025-04", 20.0, 19.5), ("2026-01", 27.0, 23.5), ("2026-02", 5.0, 16.0)},
        ),
    ],
)
def test_a_plain_question_has_its_answer(
    question: str, rows: set[tuple[Any, ...]], shop: duckdb.DuckDBPyConnection
) -> None:
    parsed = parse_question(question, (ORDERS,))
    assert isinstance(parsed, ParsedQuestion), parsed
    answered = shop.execute(compile_plan(parsed.plan, {"orders": SCHEMA}).sql).fetchall()
    assert {tuple(map(_plain, row)) for row in answered} == rows, parsed.description


def _plain(value: Any) -> Any:
    """Round numbers, and shorten the first moment of a month to the month."""
    if isinstance(value, float | Decimal):
        return round(float(value), 4)
    return str(value)[:7] if hasattr(value, "year") else value


@pytest.mark.parametrize("question", ["which month was the most delivered?", "customers with no mugs"])
def test_a_unit_or_a_no_is_not_taken_for_a_column_in_passing(question: str) -> None:
    parsed = parse_question(question, (ORDERS,))
    description = parsed.description if isinstance(parsed, ParsedQuestion) else ""
    assert "between" not in description
    assert "`returned`" not in description


def test_a_change_of_unit_is_no_share() -> None:
    parsed = parse_question("share of orders that took more than 7 days to deliver", (ORDERS,))
    assert not isinstance(parsed, ParsedQuestion) or "share" in parsed.description


STAYS = """
    (1, timestamp '2024-07-01', timestamp '2024-07-04', 100.0, 'no', 'closed', timestamp '2024-06-01 10:00'),
    (2, timestamp '2024-07-02', timestamp '2024-07-03', 200.0, 'yes', 'open', timestamp '2024-06-03 10:00')
"""
STAY_SCHEMA: TableSchema = {
    "booking_id": "integer",
    "arrival": "datetime",
    "departure": "datetime",
    "price_per_night": "number",
    "canceled": "text",
    "status": "text",
    "opened_at": "datetime",
}
BOOKINGS = TableProfile(
    "bookings",
    500,
    (
        Column("booking_id", "integer", "id", 500, unique=True, low=1, high=500),
        Column("arrival", "datetime", "datetime", 300, low="2024-01-01", high="2025-05-01"),
        Column("departure", "datetime", "datetime", 300, low="2024-01-03", high="2025-05-08"),
        Column("price_per_night", "number", "numeric", 480, low=60.0, high=320.0),
        Column("canceled", "text", "category", 2, top=("no", "yes"), values=("no", "yes")),
        Column("status", "text", "category", 2, top=("open", "closed"), values=("open", "closed")),
        Column("opened_at", "datetime", "datetime", 490, low="2023-10-01T08:00:00", high="2025-05-01T18:00:00"),
    ),
)


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("average length of stay", {(2.0,)}),
        ("total revenue", {(500.0,)}),
        ("how many bookings were opened in June 2024?", {(2,)}),
        ("how many open bookings are there?", {(1,)}),
    ],
)
def test_a_question_about_stays_has_its_answer(question: str, rows: set[tuple[Any, ...]]) -> None:
    parsed = parse_question(question, (BOOKINGS,))
    assert isinstance(parsed, ParsedQuestion), parsed
    with duckdb.connect() as connection:
        connection.execute(
            f"CREATE TABLE bookings AS SELECT * FROM (VALUES {STAYS}) AS t({', '.join(STAY_SCHEMA)})"
        )
        answered = connection.execute(compile_plan(parsed.plan, {"bookings": STAY_SCHEMA}).sql).fetchall()
    assert {tuple(map(_plain, row)) for row in answered} == rows, parsed.description


def test_a_word_that_only_has_to_do_with_a_flag_selects_no_rows() -> None:
    parsed = parse_question("longest stay", (BOOKINGS,))
    assert isinstance(parsed, ParsedQuestion), parsed
    assert "`canceled`" not in parsed.description


def test_revenue_ranks_groups_by_its_total_without_doubt() -> None:
    sold = replace(ORDERS.columns[5], name="net_eur")
    orders = replace(ORDERS, columns=(*ORDERS.columns[:4], sold))
    parsed = parse_question("top product for each customer by revenue", (orders,))
    assert isinstance(parsed, ParsedQuestion), parsed
    assert parsed.description.startswith("the total of `net_eur` for each `customer` and `product`")
