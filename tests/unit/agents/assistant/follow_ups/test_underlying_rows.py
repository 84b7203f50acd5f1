"""Messages that ask for the rows behind an answer, and for the period before that of an answer."""

import pytest

from app.agents.assistant.follow_ups.changed_plan import UnclearChange
from app.agents.assistant.follow_ups.requests import FollowUp, read_follow_up

from ...shop_tables import TABLES
from .test_requests import ask, follow, sql


@pytest.mark.parametrize(
    ("question", "message", "condition"),
    [
        ("total revenue by month in 2024", "show me the rows behind the March bar", "month(t0"),
        ("total revenue by region", "which rows are these for the north?", "= 'north'"),
        ("total revenue by region", "show me the orders of north", "= 'north'"),
        ("total revenue by region", "drill down into south", "= 'south'"),
        ("total revenue by region", "list the underlying records of the south", "= 'south'"),
    ],
)
def test_rows_of_a_group_keep_the_conditions_of_the_answer(question: str, message: str, condition: str) -> None:
    query = sql(follow(question, message))
    assert condition in query
    assert "GROUP BY" not in query
    assert ("2024-01-01" in query) == ("2024" in question)


def test_rows_behind_an_answer_are_those_of_its_groups() -> None:
    assert "WHERE" not in sql(follow("total revenue by region", "which rows are these?"))
    only_of_groups = sql(follow("top 3 products by revenue", "show me the rows behind that"))
    assert "LIMIT 3" in only_of_groups
    assert "SEMI JOIN" in only_of_groups or "EXISTS" in only_of_groups
    of_greatest = sql(follow("total revenue by region", "show me the rows behind the biggest bar"))
    assert "DESC" in of_greatest
    assert "LIMIT 1" in of_greatest
    assert "count(*)" in sql(follow("total revenue by region", "which rows are these", "how many are that?"))


def test_an_unknown_group_is_asked_about_and_other_rows_are_no_group() -> None:
    earlier = ask("total revenue by region")
    with pytest.raises(UnclearChange, match="`region`"):
        read_follow_up("show me the rows behind Atlantis", earlier, TABLES)
    for message in ("show me the orders of 2023", "show me the products of category a"):
        changed = read_follow_up(message, earlier, TABLES)
        assert changed is None or "rows behind" not in changed.readings[0]


@pytest.mark.parametrize(
    ("question", "message", "first_day"),
    [
        ("total revenue by region in July 2024", "same month last year", "2023-07-01"),
        ("total revenue by region in July 2024", "and the month before?", "2024-06-01"),
        ("total revenue by region in March 2024", "what about the previous quarter", "2023-12-01"),
        ("total revenue in 2024 by region", "a year earlier", "2023-01-01"),
    ],
)
def test_a_period_is_moved_by_a_unit(question: str, message: str, first_day: str) -> None:
    query = sql(follow(question, message))
    assert f"'{first_day}" in query
    assert 'GROUP BY t0."region"' in query


def test_an_answer_of_no_period_has_none_before_it() -> None:
    with pytest.raises(UnclearChange, match="no period"):
        read_follow_up("same month last year", ask("total revenue by region"), TABLES)


def read(message: str, question: str) -> FollowUp:
    changed = read_follow_up(message, ask(question), TABLES)
    assert changed is not None
    return changed


def test_what_was_left_out_is_put_back_and_the_best_group_is_named_by_its_noun() -> None:
    changed = follow("total revenue by region", "without the north", "put the north back")
    assert "WHERE" not in sql(changed)
    assert sql(read("which region was best?", "total revenue by region")).endswith("LIMIT 1")
    assert read_follow_up("which product was best?", ask("total revenue by region"), TABLES) is None
