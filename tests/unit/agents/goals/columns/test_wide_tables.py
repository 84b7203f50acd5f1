"""The work that a long goal makes on a wide table, in calls of functions: the same on every machine."""

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from app.agents.goals.columns.target import find_target
from app.agents.goals.parser import parse_goal
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.index import WordIndex
from app.agents.questions.parsed_question import UnparsedQuestion
from app.agents.questions.parser import MAX_WORDS, parse_question

COLUMNS = 500
MAX_CALLS = 3_000_000
"""Of 500 columns and 5,000 characters, where comparing every word with every name took 36 to 46 million."""
WORDS = (
    "sensor {} reading",
    "cabin{} fare",
    "x{}",
    "value of number {}",
    "not predict the a{},",
    "temperature",
)


def calls_of(work: Callable[[], object]) -> int:
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def wide(name: str) -> TableProfile:
    columns = (Column(name.format(i), "double", "number", distinct=500) for i in range(COLUMNS))
    return TableProfile("readings", 1000, tuple(columns))


@pytest.mark.parametrize("name", ["sensor_{}_value", "cabin{}", "temp_number_{}_value"])
@pytest.mark.parametrize("words", WORDS)
def test_a_long_goal_on_a_wide_table(name: str, words: str) -> None:
    text = ("predict the " + " ".join(words.format(i) for i in range(2000)))[:5000]
    table = wide(name)
    assert calls_of(lambda: find_target(parse_goal(text), [table])) < MAX_CALLS


@pytest.mark.parametrize("name", ["sensor_{}_value", "cabin{}", "temp_number_{}_value"])
@pytest.mark.parametrize("words", WORDS)
def test_a_long_question_on_a_wide_table(name: str, words: str) -> None:
    text = "what is the mean of " + " ".join(words.format(i) for i in range(2000))
    text = " ".join(text.split()[: MAX_WORDS // 2])
    table = wide(name)
    assert calls_of(lambda: parse_question(text, [table])) < MAX_CALLS


def test_a_question_that_is_a_text_is_not_read() -> None:
    read = parse_question("what is the mean of " + "fare " * MAX_WORDS, [wide("fare{}")])
    assert isinstance(read, UnparsedQuestion)
    assert str(MAX_WORDS) in read.reason


def test_the_index_of_a_text_knows_where_words_stand() -> None:
    index = WordIndex("Predict the survival of passengers, and the fare of passengers")
    assert index.find_words(["of", "passengers"]) == 3
    assert index.find_words(["of", "fare"]) is None
    assert index.count_words(["of", "passengers"]) == 2


def test_a_column_whose_name_has_no_word_breaks_no_goal() -> None:
    columns = (
        Column("%", "double", "number", distinct=50),
        Column("fare paid", "double", "number", distinct=50),
    )
    table = TableProfile("rides", 100, (*columns, Column("fare", "double", "number", distinct=50)))
    target = find_target(parse_goal("predict the fare paid"), [table]).target
    assert target is not None
    assert target.column.name == "fare paid"
