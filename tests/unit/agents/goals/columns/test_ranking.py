"""Probabilities of columns as the target of a goal."""

import pytest

from app.agents.goals.columns.ranking import rank_columns, weigh_columns
from app.agents.goals.columns.target import (
    MIN_AGREED_PROBABILITY,
    MIN_PROBABILITY,
    ScoredColumn,
    find_target,
    min_probability,
)
from app.agents.goals.parser import parse_goal
from app.agents.goals.tables.profiles import Column, TableProfile

CUSTOMERS = TableProfile(
    "customers",
    7_000,
    (
        Column("customer_id", "text", "id", 7_000, unique=True),
        Column("sex", "text", "category", 2, top=("m", "f")),
        Column("tenure", "integer", "numeric", 72, low=0, high=72),
        Column("monthly_charge", "number", "numeric", 1_500, low=18, high=120),
        Column("complaints", "integer", "numeric", 9, low=0, high=8),
        Column("churned", "text", "category", 2, top=("yes", "no")),
    ),
)
COLUMNS = [(CUSTOMERS, column) for column in CUSTOMERS.columns]


@pytest.mark.parametrize(
    ("goal", "target"),
    [
        ("who is about to leave us", "churned"),
        ("Which customers are going to cancel?", "churned"),
        ("How much will a new customer pay per month?", "monthly_charge"),
        ("how long has a customer been with us", "tenure"),
        ("number of complaints", "complaints"),
    ],
)
def test_the_likeliest_column_is_the_one_that_is_meant(goal: str, target: str) -> None:
    probabilities = rank_columns(parse_goal(goal), COLUMNS)
    likeliest = max(range(len(COLUMNS)), key=probabilities.__getitem__)
    assert COLUMNS[likeliest][1].name == target


@pytest.mark.parametrize("goal", ["who is about to leave us", "zzz", "", "predict something"])
def test_probabilities_leave_room_for_none(goal: str) -> None:
    probabilities = rank_columns(parse_goal(goal), COLUMNS)
    assert all(0 <= probability <= 1 for probability in probabilities)
    assert sum(probabilities) < 1


def test_words_without_a_meaning_determine_no_column() -> None:
    assert max(rank_columns(parse_goal("wibble of the seventeen purple"), COLUMNS)) < MIN_PROBABILITY
    assert find_target(parse_goal("wibble of the seventeen purple"), [CUSTOMERS]).target is None


def test_a_row_of_numbered_columns_fills_no_question() -> None:
    flags = tuple(Column(f"w{week}", "integer", "boolean", 2, low=0, high=1) for week in range(1, 21))
    table = TableProfile("panel", 900, (*flags, *CUSTOMERS.columns))
    options = find_target(parse_goal("what explains blorps"), [table]).options
    likeliest = {option.column.name for option in options[:5]}
    assert {"tenure", "monthly_charge", "complaints", "churned"} <= likeliest
    target = find_target(parse_goal("what explains w7"), [table]).target
    assert target
    assert target.column.name == "w7"


@pytest.mark.parametrize(
    ("goal", "target"),
    [
        ("Predict y", "y"),
        ("predict Y.", "y"),
        ("Predict `y`", "y"),
        ("predict the value of y", "y"),
        ("Predict the `value`", "value"),
        ("train a model", None),
        ("Predict it", None),
    ],
)
def test_a_letter_or_quotes_name_a_column_that_general_words_do_not(goal: str, target: str | None) -> None:
    names = ("batch_mean_y", "y", "value", "a", "x1")
    table = TableProfile(
        "runs", 900, tuple(Column(name, "number", "numeric", 800, low=0, high=9) for name in names)
    )
    match = find_target(parse_goal(goal), [table])
    assert (match.target and match.target.column.name) == target


def test_no_columns_have_no_probabilities() -> None:
    assert rank_columns(parse_goal("who leaves"), []) == []


def test_a_class_of_two_words_means_what_both_say_together() -> None:
    loans = TableProfile(
        "loans",
        900,
        (
            Column("home", "text", "category", 3, top=("RENT", "OWN", "SHARED")),
            Column("state", "text", "category", 2, top=("Fully Paid", "Charged Off")),
            Column("months", "integer", "numeric", 2, low=36, high=60),
        ),
    )
    target = find_target(parse_goal("who will default?"), [loans]).target
    assert target
    assert target.column.name == "state"


def test_another_reader_makes_its_column_likelier() -> None:
    goal = parse_goal("wibble of the seventeen purple")
    learned = {("customers", column.name): 0.0 for column in CUSTOMERS.columns} | {("customers", "tenure"): 1.0}
    before, after = weigh_columns(goal, COLUMNS), weigh_columns(goal, COLUMNS, learned)
    tenure = next(place for place, (_, column) in enumerate(COLUMNS) if column.name == "tenure")
    assert after[tenure].probability > before[tenure].probability
    others = [place for place in range(len(COLUMNS)) if place != tenure]
    assert sum(after[n].probability for n in others) < sum(before[n].probability for n in others)


@pytest.mark.parametrize(("meant", "is_agreed"), [("complaints", True), ("tenure", False)])
def test_readers_agree_on_the_column_that_both_have_first(meant: str, is_agreed: bool) -> None:
    learned = {("customers", column.name): float(column.name == meant) for column in CUSTOMERS.columns}
    ranks = weigh_columns(parse_goal("number of complaints"), COLUMNS, learned)
    assert any(rank.is_agreed for rank in ranks) == is_agreed


def _scored(probability: float, is_agreed: bool) -> ScoredColumn:
    return ScoredColumn(CUSTOMERS, CUSTOMERS.columns[0], 0.0, probability, is_agreed=is_agreed)


@pytest.mark.parametrize(
    ("is_agreed", "second", "minimum"),
    [
        (True, 0.1, MIN_AGREED_PROBABILITY),
        (True, 0.3, MIN_PROBABILITY),
        (False, 0.1, MIN_PROBABILITY),
    ],
)
def test_a_column_on_which_both_readers_agree_needs_less(
    is_agreed: bool, second: float, minimum: float
) -> None:
    assert min_probability(_scored(0.65, is_agreed), [_scored(second, False)]) == minimum


def test_another_reader_does_not_change_how_likely_a_column_is_meant_at_all() -> None:
    goal, learned = (
        parse_goal("number of complaints"),
        {("customers", c.name): 1 / 6 for c in CUSTOMERS.columns},
    )
    before, after = weigh_columns(goal, COLUMNS), weigh_columns(goal, COLUMNS, learned)
    assert sum(rank.probability for rank in after) == pytest.approx(sum(rank.probability for rank in before))


def test_a_column_that_another_reader_has_not_seen_keeps_its_share() -> None:
    goal = parse_goal("number of complaints")
    learned = {("customers", c.name): 0.0 for c in CUSTOMERS.columns if c.name != "complaints"}
    ranks = weigh_columns(goal, COLUMNS, learned)
    assert COLUMNS[max(range(len(COLUMNS)), key=lambda n: ranks[n].probability)][1].name == "complaints"
