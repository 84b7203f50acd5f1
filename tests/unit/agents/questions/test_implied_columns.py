"""Columns that words of a question mean by their links, and what the whole of it is about."""

from app.agents.goals.tables.profiles import Column, TableProfile
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


FIELDS = TableProfile(
    "fields",
    90,
    (
        text("crop", "maize", "wheat", "barley"),
        text("farm", "Mill", "Dock", "Hill"),
        number("area_ha", 90.0),
        number("yield_t", 900.0),
    ),
)


def test_a_noun_behind_a_word_of_groups_may_mean_a_column_of_classes() -> None:
    question = "total yield per cereal"
    marked = mark_implied(mark_items(question, [FIELDS]), question, [FIELDS])
    cereal = next(item for item in marked.items if item.word == "cereal")
    assert [match.column.name for match in cereal.columns] == ["crop"]
