"""Texts that differ in case only count as one, under the most frequent spelling and the column's own name."""

import pytest

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.parser import parse_question
from app.plans.compiler import compile_plan
from app.plans.schema import read_table_schema

from .query_answers import answer, open_tables

CUSTOMERS = ("Acme Ltd", "Bolt GmbH", "acme ltd")
INVOICES = TableProfile(
    "invoices",
    5,
    (
        Column("customer", "text", "category", 3, top=CUSTOMERS, values=tuple(sorted(CUSTOMERS))),
        Column("amount", "number", "numeric", 4, missing=0.2, low=1, high=40),
    ),
)
ROWS = {
    INVOICES: "('Acme Ltd', 10), ('Acme Ltd', 20), ('acme ltd', 30), ('Bolt GmbH', 40), ('Bolt GmbH', null)"
}


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("What is the total amount per customer?", [("Acme Ltd", 60), ("Bolt GmbH", 40)]),
        ("How many rows by customer?", [("Acme Ltd", 3), ("Bolt GmbH", 2)]),
        ("What is the total amount of acme ltd?", [(60,)]),
        ("How many different customers are there?", [(2,)]),
    ],
)
def test_spellings_count_as_one(question: str, rows: list[tuple[object, ...]]) -> None:
    with open_tables(ROWS) as database:
        assert sorted(answer(database, question, INVOICES)) == rows


def test_an_answer_says_which_rows_and_spellings_it_counts() -> None:
    parsed = parse_question("What is the total amount per customer?", [INVOICES])
    assert isinstance(parsed, ParsedQuestion), parsed
    assert {
        "Rows without a `amount` are left out.",
        "`Acme Ltd` and `acme ltd` of `customer` count as one.",
    } <= {*parsed.interpretations}
    schema = read_table_schema([{"name": c.name, "type": c.type} for c in INVOICES.columns])
    with open_tables(ROWS) as database:
        cursor = database.execute(compile_plan(parsed.plan, {"invoices": schema}).sql)
        assert [column[0] for column in cursor.description or ()] == ["customer", "total amount"]


WORDS = ("Y", "No", "N", "Yes", "y")
BILLS = TableProfile(
    "bills",
    6,
    (Column("paid", "boolean", "boolean", 5, top=WORDS, values=tuple(sorted(WORDS)), is_stored_as_text=True),),
)


def test_words_for_yes_and_for_no_count_as_one_each() -> None:
    rows = "('Y'), ('Y'), ('No'), ('N'), ('Yes'), ('y')"
    with open_tables({BILLS: rows}) as database:
        assert sorted(answer(database, "How many rows by paid?", BILLS)) == [("No", 2), ("Yes", 4)]
