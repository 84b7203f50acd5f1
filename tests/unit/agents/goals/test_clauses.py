"""The parts of the words of a goal in its request."""

import pytest

from app.agents.goals.clauses import Part, goal_words, scores_rows


def heads(goal: str) -> set[str]:
    return {word.word for word in goal_words(goal) if word.part is Part.HEAD}


@pytest.mark.parametrize(
    ("goal", "head"),
    [
        ("Predict the delay of a flight", "delay"),
        ("predict whether a customer will default", "default"),
        ("Which plan will a customer choose?", "plan"),
        ("which patients will be readmitted", "readmitted"),
        ("How much will a house sell for?", "sell"),
        ("How long will the repair take?", "long"),
        ("How many bicycles are hired on Sundays?", "bicycles"),
        ("What drives house prices?", "prices"),
        ("Flag orders that will come back", "come"),
        ("Guess the seat that suits a traveller", "seat"),
        ("the interest rate a new applicant will get", "rate"),
        ("We lose money on waste. Please predict the yield of a batch.", "yield"),
        ("Predict whether profit is negative", "profit"),
        ("I want to know how sleep and age affected recovery", "recovery"),
        ("forcast the demand for the next six weeks", "demand"),
        ("Identify runners at risk of an injury", "injury"),
        ("members of the gold plan with the highest chance of leaving", "leaving"),
        ("rank staff by their likelihood of quitting", "quitting"),
        ("score every customer for churn, best first", "churn"),
        ("score the risk of default for each applicant", "default"),
        # No misspelt verbs of prediction.
        ("predict the number of guests on floor 1", "guests"),
        ("predict the models sold", "sold"),
    ],
)
def test_the_head_of_a_request_is_what_is_asked_for(goal: str, head: str) -> None:
    assert head in heads(goal)


@pytest.mark.parametrize(
    ("goal", "word"),
    [
        ("which patients will be readmitted", "patients"),
        ("predict whether a customer will default", "customer"),
        ("Flag orders that will come back", "orders"),
        ("How late will a tram be at its terminus?", "tram"),
        ("Identify runners at risk of an injury", "runners"),
        ("score every customer for churn, best first", "customer"),
    ],
)
def test_the_rows_are_not_what_is_asked_for(goal: str, word: str) -> None:
    assert [entry.part for entry in goal_words(goal) if entry.word == word] == [Part.ENTITY]


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("bookings by phone at high risk of cancellation", True),
        ("score every customer for churn", True),
        ("which plan has the highest risk of churn", False),
        ("which members at risk of leaving are on the gold plan", False),
        ("the scores of pupils by class", False),
    ],
)
def test_rows_are_scored_by_an_outcome(goal: str, expected: bool) -> None:
    assert scores_rows(goal) is expected


def test_periods_and_horizons_name_no_column() -> None:
    assert {word.word for word in goal_words("sales per week for the next 12 weeks")} == {"sales"}


def test_a_text_without_content_has_no_words() -> None:
    assert goal_words("") == goal_words("?!") == goal_words("please, could you") == ()
