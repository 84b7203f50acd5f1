"""Phrases without a verb, states that a missing date tells, places of a race, and returns of a price."""

import pytest

from app.agents.goals.tables.profiles import TableProfile
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.parser import parse_question
from app.agents.questions.rewording.bare_phrases import reword_bare_phrases
from app.agents.questions.rewording.open_states import reword_states
from app.agents.questions.rewording.placings import reword_placings
from app.plans.build import case, column, compare, literal, moment
from app.plans.describe import describe_expression

from .test_everyday_tables import ROWS, code, date, number, text

HIRES = TableProfile(
    "hires",
    ROWS,
    (
        code("hire_no", "H1"),
        text("tool", "drill", "mixer"),
        text("branch", "Mill Road", "Station"),
        date("hired_on", "2025-01-01", "2026-09-30"),
        date("returned_on", "2025-01-02", "2026-09-30", missing=0.1),
        number("charge", 5, 200, "number"),
    ),
)
RACES = TableProfile(
    "results",
    ROWS,
    (
        number("race", 1, 100),
        number("lane", 1, 6, distinct=6),
        text("boat", "Tern", "Skua"),
        number("place", 1, 6, distinct=6),
    ),
)
SESSIONS = TableProfile(
    "sessions",
    ROWS,
    (
        code("session_id", "S1"),
        text("device", "phone", "laptop"),
        text("converted", "no", "yes"),
        number("revenue", 0, 90, "number"),
        date("day", "2025-01-01", "2026-09-30"),
    ),
)
WINDS = TableProfile(
    "readings",
    ROWS,
    (text("harbour", "Skerry", "Bayhead"), date("day", "2026-03-01", "2026-08-31"), number("wind_kmh", 0, 80)),
)
PRICES = TableProfile(
    "prices",
    ROWS,
    (
        date("date", "2026-02-02", "2026-09-30"),
        text("grain", "wheat", "oats"),
        number("close", 90, 300, "number"),
    ),
)


@pytest.mark.parametrize(
    ("question", "table", "description"),
    [
        ("charge above 100", HIRES, "the rows, where `charge` is above 100, from `hires`"),
        ("charge in bands of 10", HIRES, "the number of rows for each `charge from`, from `hires`"),
        (
            "top device last quarter",
            SESSIONS,
            "the total of `revenue` for each `device`, where `day` is from 2026-07-01 to 2026-09-30",
        ),
        (
            "how many tools are still out",
            HIRES,
            "the number of rows, where `returned_on` is missing, from `hires`",
        ),
        (
            "how many hires have not been returned yet",
            HIRES,
            "the number of rows, where `returned_on` is missing, from `hires`",
        ),
        ("total of the unreturned charges by branch", HIRES, "the total of `charge` for each `branch`, where"),
        ("number of wins for Tern", RACES, "the number of rows, where `place` is 1, where `boat` is 'Tern'"),
        ("which lane won most", RACES, "the number of rows for each `lane`, where `place` is 1, the highest"),
        ("podium finishes per boat", RACES, "the number of rows for each `boat`, where `place` is at most 3"),
        (
            "which boat has the best average place",
            RACES,
            "the mean of `place` for each `boat`, ranked by the lowest",
        ),
        (
            "average revenue per converted session",
            SESSIONS,
            "the mean of `revenue`, where `converted` is 'yes', from `sessions`",
        ),
        (
            "which device converts best",
            SESSIONS,
            "the share of rows where `converted` is 'yes' for each `device`, ranked by the highest `share`",
        ),
        ("revenue growth this year", SESSIONS, "the total of `revenue` where the year of `day` is 2026 and"),
        (
            "which harbour is the windiest",
            WINDS,
            "the mean of `wind_kmh` for each `harbour`, ranked by the highest",
        ),
        (
            "wind at Skerry on 2026-08-30",
            WINDS,
            "the mean of `wind_kmh`, where `day` is on 2026-08-30, where `harbour` is 'Skerry'",
        ),
        ("how strong was the wind in May", WINDS, "the mean of `wind_kmh`, where the month of `day` is 5"),
    ],
)
def test_a_question_is_read(question: str, table: TableProfile, description: str) -> None:
    parsed = parse_question(question, (table,))
    assert isinstance(parsed, ParsedQuestion), parsed
    assert parsed.description.startswith(description), parsed.description


def test_a_return_is_over_the_day_before_of_the_same_thing() -> None:
    parsed = parse_question("daily returns of wheat", (PRICES,))
    assert isinstance(parsed, ParsedQuestion), parsed
    steps = parsed.plan.model_dump(mode="json")["steps"]
    [window] = [step for step in steps if step["kind"] == "window"]
    assert window["columns"][0]["within"] == ["grain"]
    # The condition comes behind the window: the first day that is shown has its return too.
    assert [step["kind"] for step in steps].index("window") < max(
        place for place, step in enumerate(steps) if step["kind"] == "filter"
    )
    assert "daily return" in [name["name"] for name in steps[-1]["columns"]]


@pytest.mark.parametrize(
    ("question", "table"),
    [
        ("how many drills were hired", HIRES),
        ("total charge by branch in bands of 10", HIRES),
        ("average charge of tools over 90", HIRES),
        ("growth of charge per month", HIRES),
        ("revenue per session by device", SESSIONS),
        ("top 3 boats by place", RACES),
        ("which boat has the lowest place", RACES),
    ],
)
def test_other_questions_stay_as_they_are(question: str, table: TableProfile) -> None:
    for reword in (reword_bare_phrases, reword_states, reword_placings):
        assert reword(question, (table,)) == question


def test_a_class_is_described_by_its_condition() -> None:
    may = compare(">=", column("day"), moment("2026-05-01"))
    label = case([(may, literal("2026-05"))], None)
    described = describe_expression(compare("=", label, literal("2026-05")))
    assert described == "`day` is at least 2026-05-01"
