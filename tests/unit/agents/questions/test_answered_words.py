"""Words of questions that an answer has to account for, and rows by the notation of data frames."""

import pytest

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion
from app.agents.questions.parser import parse_question

CROSSINGS = TableProfile(
    "crossings",
    80,
    (
        Column("departs", "datetime", "datetime", distinct=80, unique=True),
        Column("island", "text", "category", distinct=4, values=("Brac", "Hvar", "Vis")),
        Column("captain", "text", "category", distinct=3, values=("Ana", "Ivo", "Mare")),
        Column("cars", "integer", "numeric", distinct=60, low=0, high=110),
        Column("delay_min", "integer", "numeric", distinct=50, low=0, high=60),
    ),
)


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("mean number of cars by island", "the mean of `cars` for each `island`"),
        ("crossings.head(3)", "the first 3 rows"),
        ("last 4 records", "the first 4 rows"),
        ("what was the longest delay and where did it go?", "`island`"),
    ],
)
def test_an_answer_has_what_each_word_asks_for(question: str, part: str) -> None:
    parsed = parse_question(question, [CROSSINGS])
    assert isinstance(parsed, ParsedQuestion), parsed
    assert part in parsed.description or part.strip("`") in parsed.plan.model_dump_json()


def test_words_without_effect_are_named_in_the_question_back() -> None:
    parsed = parse_question("variance ratio of cars by island", [CROSSINGS])
    assert isinstance(parsed, UnparsedQuestion)
    assert "ratio" in parsed.reason


def test_a_number_is_no_exact_value_of_a_measure_unless_the_question_says_so() -> None:
    parsed = parse_question("how many crossings passed 50 cars", [CROSSINGS])
    assert isinstance(parsed, UnparsedQuestion) or "`cars` is 50" not in parsed.description
