"""Conversations of a suite: what is wrong with a turn is said."""

from app.cli.scoring.conversations import ExpectedTurn, TurnOutcome, find_turn_misses
from app.cli.scoring.suite import read_suite

TABLE = {"columns": [{"name": "region"}, {"name": "total"}], "rows": [["N", 1.00001], ["S", 2]], "row_count": 2}
OUTCOME = TurnOutcome("succeeded", "Two rows.", TABLE, {"steps": [{"kind": "group"}]})


def test_a_turn_that_is_as_expected_has_no_misses() -> None:
    expect = ExpectedTurn(columns=["total"], rows=[["N", 1.0]], row_count=2, steps=["group"], text=["Two"])
    assert find_turn_misses(expect, OUTCOME) == []


def test_each_part_that_is_not_as_expected_is_a_miss() -> None:
    expect = ExpectedTurn(
        columns=["mean"], rows=[["N", 9.0]], row_count=3, chart="bar", steps=["join"], text=["Three"], studies=1
    )
    assert len(find_turn_misses(expect, OUTCOME)) == 7
    assert find_turn_misses(ExpectedTurn(words_only=True), OUTCOME) == ["more than words"]
    assert find_turn_misses(ExpectedTurn(asks="column"), OUTCOME) == ["asked [] instead of 'column'"]


def test_the_shipped_conversations_are_those_of_every_kind() -> None:
    names = {item.id[0] for item in read_suite("chat").items}
    assert names >= set("abcdefg")
