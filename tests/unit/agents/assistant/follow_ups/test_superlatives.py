"""Superlatives behind an answer turn a ranking round, keep one place of it, or show what it left out."""

import pytest

from app.agents.assistant.follow_ups.requests import read_follow_up
from app.plans.describe import describe_plan
from app.plans.ranking_changes import find_ranking

from ...shop_tables import TABLES
from .test_requests import ask, follow, sql

HIGHEST = "which month had the highest revenue?"


@pytest.mark.parametrize(
    ("messages", "descending", "count"),
    [
        (["and the lowest?"], False, 1),
        (["worst?"], False, 1),
        (["and the lowest?", "and the top 3?"], True, 3),
        (["and the top 3?", "the worst 2"], False, 2),
        (["and the lowest?", "which one was best?"], True, 1),
    ],
)
def test_a_ranking_is_turned_round(messages: list[str], descending: bool, count: int) -> None:
    changed = follow(HIGHEST, *messages)
    ranking = find_ranking(changed.plan)
    assert ranking is not None
    assert (ranking.column, ranking.descending, ranking.size) == ("total revenue", descending, count)
    assert ("highest" if descending else "lowest") in changed.readings[-1]


def test_rankings_within_groups_stay_within_them() -> None:
    ranking = find_ranking(follow("top 3 products by revenue per region", "and the lowest?").plan)
    assert ranking is not None
    assert (ranking.descending, ranking.size, ranking.within) == (False, 3, ["region"])


@pytest.mark.parametrize(
    ("message", "place"), [("second highest?", 2), ("and the third?", 3), ("the next one", 2)]
)
def test_one_place_of_an_order(message: str, place: int) -> None:
    changed = follow(HIGHEST, message)
    assert f"number {place} only" in describe_plan(changed.plan)
    assert "DENSE_RANK() OVER (ORDER BY" in sql(changed).upper().replace("\n", " ")


def test_the_others_are_those_that_were_left_out() -> None:
    assert "all but the first 2" in describe_plan(
        follow("revenue by region", "top 2", "show the other ones").plan
    )
    assert read_follow_up("show the other ones", ask("total revenue by region"), TABLES) is None


def test_one_group_of_an_answer_that_shows_all() -> None:
    assert sql(follow("total revenue by region", "and the lowest?")).endswith("LIMIT 1")
    # Without an article the word orders what is shown.
    assert "LIMIT" not in sql(follow("total revenue by region", "highest first"))


def test_times_have_a_latest_and_no_highest() -> None:
    changed = follow("which order was the latest?", "and the earliest?")
    assert changed.readings == ["The earliest by `date`."]
    assert read_follow_up("and the lowest 3?", ask("orders in 2024"), TABLES) is None


def test_the_answer_is_shown_again_where_its_group_is_asked_for() -> None:
    assert follow(HIGHEST, "which one is that?").readings == ["That is the last answer."]
