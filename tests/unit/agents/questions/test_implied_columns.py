"""Columns that words of a question mean by their links, and what the whole of it is about."""

from app.agents.goals.tables import Column, TableProfile
from app.agents.questions.implied_columns import mark_implied
from app.agents.questions.marking.mark_items import mark_items


def number(name: str, high: float) -> Column:
    return Column(name, "number", "numeric", 90, low=1.0, high=high)


def text(name: str, *values: str) -> Column:
    return Column(name, "text", "category", len(values), top=values, values=values)


GIFTS = TableProfile(
    "gifts",
    120,
    (
        Column("gift_id", "integer", "id", 120, unique=True, low=1, high=120),
        number("amount_eur", 500.0),
        text("region", "North", "South", "West"),
    ),
)


def test_a_noun_of_rows_behind_an_aggregate_may_mean_what_the_question_is_about() -> None:
    question = "average gift by region"
    marked = mark_implied(mark_items(question, [GIFTS]), question, [GIFTS])
    gift = next(item for item in marked.items if item.word == "gift")
    assert "amount_eur" in [match.column.name for match in gift.columns]
    assert marked.measure is not None
    assert marked.measure.column.name == "amount_eur"


def test_without_an_aggregate_rows_stay_rows() -> None:
    question = "number of gifts by region"
    marked = mark_implied(mark_items(question, [GIFTS]), question, [GIFTS])
    gifts = next(item for item in marked.items if item.text == "gifts")
    assert "amount_eur" not in [match.column.name for match in gifts.columns]
