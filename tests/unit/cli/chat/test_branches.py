"""Branches of a conversation in the terminal."""

import io

import pytest
from rich.console import Console

from app.cli.chat.branches import parse_branch, show_comparison
from app.errors import InvalidInput


@pytest.mark.parametrize(
    ("text", "parsed"),
    [("", ("", 0)), ("other", ("other", 0)), ("two words back 2", ("two words", 2)), ("back", ("", 1))],
)
def test_a_branch_has_a_name_and_goes_back(text: str, parsed: tuple[str, int]) -> None:
    assert parse_branch(text) == parsed


def test_a_number_of_turns_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInput, match="not 'soon'"):
        parse_branch("other back soon")


def test_a_comparison_shows_the_turns_and_the_rows_of_each_side() -> None:
    sides = {"first": {"rows": 2}, "second": None}
    table = {"name": "t", **sides, "only_first": {"rows": [["a", 1]]}, "only_second": None}
    compared = {"turns_first": [{"message": "SQL: update t"}], "turns_second": [], "tables": [table]}
    text = io.StringIO()
    show_comparison(compared, {"name": "main"}, {"name": "other"}, Console(file=text, width=200))
    assert text.getvalue().splitlines() == [
        "main: 1 turn of its own",
        "  SQL: update t",
        "other: 0 turns of its own",
        "Table t: 2 rows and none",
        "  only main: a, 1",
    ]
