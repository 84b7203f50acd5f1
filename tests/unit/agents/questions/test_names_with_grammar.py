"""Names with words of grammar (`no_show`, `last_cleaned`), shortened names (`chnl`) and values of numbers."""

import pytest
from tests.unit.agents.questions.query_answers import answer, open_tables

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.agreement import settle
from app.agents.questions.learned.reading import LearnedReadings
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion
from app.agents.questions.parser import parse_question

VISITS = TableProfile(
    "visits",
    6,
    (
        Column("visit_no", "integer", "id", 6, unique=True),
        Column("appt_dt", "datetime", "datetime", 6, low="2025-01-10", high="2025-03-20"),
        Column("booked_on", "datetime", "datetime", 6, low="2024-12-01", high="2025-03-05"),
        Column("last_cleaned", "datetime", "datetime", 6, low="2023-01-05", high="2023-06-05"),
        Column("chnl", "text", "category", 2, top=("web", "phone"), values=("web", "phone")),
        Column("no_show", "text", "category", 2, top=("N", "Y"), values=("N", "Y")),
        Column("zip", "text", "category", 2, top=("20095", "10115"), values=("20095", "10115")),
        Column("weight", "number", "numeric", 6, low=1.0, high=9.0),
    ),
)
ROWS = """
    (1, DATE '2025-01-10', DATE '2024-12-01', DATE '2023-01-05', 'web', 'Y', '20095', 4.0),
    (2, DATE '2025-02-11', DATE '2025-01-02', DATE '2023-02-05', 'web', 'N', '20095', 9.0),
    (3, DATE '2025-02-12', DATE '2025-02-01', DATE '2023-03-05', 'phone', 'N', '10115', 7.0),
    (4, DATE '2025-02-28', DATE '2025-02-03', DATE '2023-04-05', 'phone', 'N', '10115', 1.0),
    (5, DATE '2025-03-01', DATE '2025-03-01', DATE '2023-05-05', 'web', 'Y', '10115', 2.0),
    (6, DATE '2025-03-20', DATE '2025-03-05', DATE '2023-06-05', 'web', 'Y', '20095', 3.0)
"""


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("how many no-shows", [(3,)]),
        ("average weight of no shows", [(3.0,)]),
        ("how many visits by channel", [("phone", 2), ("web", 4)]),
        ("number of visits in the last month", [(2,)]),
    ],
)
def test_names_that_hold_words_of_grammar(question: str, rows: list[tuple[object, ...]]) -> None:
    with open_tables({VISITS: ROWS}) as database:
        assert sorted(row[: len(rows[0])] for row in answer(database, question, VISITS)) == rows


def test_appointments_are_dated_by_their_own_column() -> None:
    parsed = parse_question("how many appointments were there last month", [VISITS])
    assert isinstance(parsed, ParsedQuestion)
    assert "`appt_dt`" in parsed.description


def test_a_number_behind_a_preposition_is_no_number_of_rows() -> None:
    parsed = parse_question("heaviest visit to 20095", [VISITS])
    readings = [parsed] if isinstance(parsed, ParsedQuestion) else parsed.readings
    assert readings
    assert not any("20,095 rows" in reading.description for reading in readings)


@pytest.mark.parametrize("question", ["visits above the usual weight", "weight before and after", "more often"])
def test_operators_are_no_unknown_words(question: str) -> None:
    parsed = parse_question(question, [VISITS])
    assert isinstance(parsed, ParsedQuestion) or "Nothing is known of" not in parsed.reason


def test_a_settled_question_stays_as_it_is_without_a_decoder() -> None:
    unparsed = UnparsedQuestion("It can be read in several ways.")
    assert settle(unparsed, LearnedReadings()) == unparsed
