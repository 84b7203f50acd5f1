"""Conditions of plans in words that the tables do not have."""

import pytest

from app.agents.goals.conditions.row_conditions import describe_conditions
from app.agents.goals.parser import parse_goal
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.planner.plan_conditions import find_row_conditions

MINUTES = Column("talk_min", "number", "numeric", 400, low=0.5, high=90.0)
CALLS = TableProfile(
    "calls",
    2_000,
    (
        MINUTES,
        Column(
            "lang", "text", "category", 3, top=("en", "fr"), values=("en", "fr", "de"), is_stored_as_text=True
        ),
        Column("sex", "text", "category", 2, top=("F", "M"), values=("F", "M"), is_stored_as_text=True),
        Column(
            "queue",
            "text",
            "category",
            3,
            top=("TECH", "SALES", "MOVE"),
            values=("TECH", "SALES", "MOVE"),
            is_stored_as_text=True,
        ),
        Column("cust_age", "integer", "numeric", 70, low=16, high=97),
        Column("file_mb", "integer", "numeric", 60, low=1, high=512),
        Column("vip", "integer", "boolean", 2, top=(0, 1), values=(0, 1), low=0, high=1),
    ),
)


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("predict talk_min for french speakers", "`lang` is fr"),
        ("predict talk_min, english only", "`lang` is en"),
        ("predict talk_min of women", "`sex` is F"),
        ("predict talk_min excluding women", "`sex` is not F"),
        ("predict talk_min for technical calls", "`queue` is TECH"),
        ("predict talk_min outside the sales queue", "`queue` is not SALES"),
        ("predict talk_min for calls that are not in sales", "`queue` is not SALES"),
        ("predict talk_min for files of 256 mb or more", "`file_mb` is at least 256.0"),
        ("predict talk_min for files over 100 mb", "`file_mb` is above 100.0"),
        ("predict talk_min for women over 40", "`cust_age` is above 40 and `sex` is F"),
        ("predict talk_min for people aged 65 and older", "`cust_age` is at least 65"),
        ("predict talk_min of old people (over 80), please", "`cust_age` is above 80"),
        ("predict talk_min of callers under thirty minutes", ""),
        ("predict talk_min of vip callers", "`vip` is 1"),
        # Two groups are compared, and inputs and amounts of the target restrict nothing.
        ("compare talk_min of women and men", ""),
        ("predict talk_min from vip and sex", ""),
        ("will talk_min be over 10 minutes", ""),
    ],
)
def test_values_in_other_spellings_and_bounds_by_their_unit_select_rows(goal: str, expected: str) -> None:
    assert describe_conditions(find_row_conditions(parse_goal(goal), [CALLS], MINUTES)) == expected


def test_the_noun_of_the_table_is_no_spelling_of_a_value() -> None:
    late = Column("late", "integer", "boolean", 2, top=(0, 1), values=(0, 1), low=0, high=1)
    mode = Column(
        "mode", "text", "category", 2, top=("Ship", "Rail"), values=("Ship", "Rail"), is_stored_as_text=True
    )
    goal = parse_goal("which shipments will be late")
    assert find_row_conditions(goal, [TableProfile("shipments", 900, (mode, late))], late) == []


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("How many vip calls will come in tomorrow?", "`vip` is 1"),
        ("forecast calls without vip per day", "`vip` is 0"),
        ("number of calls from french customers next week", "`lang` is fr"),
        ("number of technical calls per day", "`queue` is TECH"),
        ("How many calls will come in tomorrow?", ""),
    ],
)
def test_counted_rows_are_selected_by_the_words_before_their_noun(goal: str, expected: str) -> None:
    conditions = find_row_conditions(parse_goal(goal), [CALLS], None, of_series=True)
    assert describe_conditions(conditions) == expected


def test_a_series_has_no_inputs_and_its_phrases_select() -> None:
    goal = parse_goal("talk_min from french callers over the next 30 days")
    assert find_row_conditions(goal, [CALLS], MINUTES) == []
    of_series = find_row_conditions(goal, [CALLS], MINUTES, of_series=True)
    assert describe_conditions(of_series) == "`lang` is fr"


VISITS = TableProfile(
    "appointments",
    2_000,
    (
        Column("booked_on", "datetime", "datetime", 300, low="2024-01-01", high="2024-10-26"),
        Column("age", "integer", "numeric", 90, low=1, high=91),
        Column("weight_kg", "number", "numeric", 400, low=2.0, high=120.0),
        Column(
            "no_show", "text", "boolean", 2, top=("no", "yes"), values=("no", "yes"), is_stored_as_text=True
        ),
        Column("status", "text", "category", 2, top=("open", "cancelled"), values=("open", "cancelled")),
    ),
)


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        # The `no` of a name denies nothing.
        ("no-shows per week for two months", "`no_show` is yes"),
        ("appointments per week, cancelled ones do not count", "`status` is not cancelled"),
        ("appointments per week, not counting cancelled ones", "`status` is not cancelled"),
        ("how many people over 80 will come next month", "`age` is above 80"),
        ("number of patients heavier than 90 kg per week", "`weight_kg` is above 90.0"),
    ],
)
def test_rows_of_counts(goal: str, expected: str) -> None:
    conditions = find_row_conditions(parse_goal(goal), [VISITS], None, of_series=True)
    assert describe_conditions(conditions) == expected


def test_words_before_the_noun_of_what_is_added_up_select_rows() -> None:
    conditions = find_row_conditions(parse_goal("vip talk_min next month"), [CALLS], MINUTES, of_series=True)
    assert describe_conditions(conditions) == "`vip` is 1"
