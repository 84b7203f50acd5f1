"""Questions as they are typed: misspelt, with terms of their own, names in quotes, plurals of values."""

from collections.abc import Sequence

import pytest

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.parser import is_question, parse_question
from app.agents.questions.plan_meaning import meaning_of
from app.agents.questions.rewording.defined_terms import reword_defined_terms
from app.agents.questions.rewording.misspellings import mend_grammar
from app.agents.questions.rows_plan import numbered_name
from app.plans import build
from app.plans.plan import DatasetSource, Plan, Step

from .query_answers import answer, open_tables


@pytest.mark.parametrize(
    ("typed", "mended"),
    [
        ("avrage fare in febuary", "average fare in february"),
        ("meidan and hightest fare", "median and highest fare"),
        ("whats the total, who didnt pay", "what is the total, who did not pay"),
        # words of their own
        ("what lowers the coverage of members at present", "what lowers the coverage of members at present"),
    ],
)
def test_words_of_the_grammar_are_spelled_right(typed: str, mended: str) -> None:
    assert mend_grammar(typed) == mended


def test_a_stored_word_is_no_misspelling() -> None:
    table = TableProfile("averge", 1, (Column("x", "number", "numeric", 1),))
    assert mend_grammar("averge", [table]) == "averge"


def test_a_misspelt_figure_makes_a_question() -> None:
    assert is_question("avrage stay in the ward")


STALLS = TableProfile(
    "stalls",
    4,
    (
        Column("hall", "text", "category", 2, top=("East", "West"), values=("East", "West")),
        Column("places", "integer", "numeric", 4, low=5, high=40),
        Column("rented", "integer", "numeric", 4, low=1, high=30),
    ),
)
STALL_ROWS = {STALLS: "('East', 10, 4), ('East', 20, 18), ('West', 5, 5), ('West', 40, 30)"}


@pytest.mark.parametrize(
    ("question", "reworded"),
    [
        ("total gaps (places minus rented) by hall", "total places minus rented by hall"),
        ("the load of each hall (rented / places)", "rented per places of each hall"),
        ("total places (by hall)", "total places (by hall)"),
        ("stalls (East)", "stalls (East)"),
    ],
)
def test_a_term_is_replaced_by_its_definition(question: str, reworded: str) -> None:
    assert reword_defined_terms(question, [STALLS]) == reworded


def test_a_term_is_answered_by_its_definition() -> None:
    with open_tables(STALL_ROWS) as database:
        rows = answer(database, "total gaps (places minus rented) by hall", STALLS)
    assert sorted(rows) == [("East", 8), ("West", 10)]


WORDS = ("N", "No", "Y", "Yes")
BILLS = TableProfile(
    "bills",
    6,
    (
        Column("client", "text", "category", 2, top=("Ames", "Bard"), values=("Ames", "Bard")),
        Column("amount", "number", "numeric", 6, low=1, high=32),
        Column("paid", "boolean", "boolean", 4, top=WORDS, values=WORDS, is_stored_as_text=True),
    ),
)
BILL_ROWS = {
    BILLS: "('Ames', 1, 'N'), ('Ames', 2, 'No'), ('Ames', 4, 'Y'), ('Bard', 8, 'No'), ('Bard', 16, 'Yes'),"
    " ('Bard', 32, 'N')"
}


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("unpaid amount by client, biggest first", [("Bard", 40), ("Ames", 3)]),
        ("how many bills are unpaid", [(4,)]),
        ('number of bills by "paid"', [("No", 4), ("Yes", 2)]),
    ],
)
def test_all_spellings_of_a_no_are_denied(question: str, rows: Sequence[tuple[object, ...]]) -> None:
    with open_tables(BILL_ROWS) as database:
        assert answer(database, question, BILLS) == rows


FILMS = TableProfile(
    "films",
    3,
    (
        Column("title", "text", "id", 3, unique=True, values=("Ice", "Sun", "Sea")),
        Column("genre", "text", "category", 2, top=("comedy", "drama"), values=("comedy", "drama")),
        Column("year", "integer", "numeric", 3, low=1998, high=2020),
        Column("rating", "number", "numeric", 3, low=2, high=9),
    ),
)
FILM_ROWS = {FILMS: "('Ice', 'drama', 1998, 9.0), ('Sun', 'comedy', 2016, 8.5), ('Sea', 'drama', 2020, 2.0)"}


@pytest.mark.parametrize(
    ("question", "figure"),
    [
        ("how many dramas have a rating above 8", 1),
        ("median rating of films made between 2015 and 2021", 5.25),
    ],
)
def test_plurals_of_values_and_participles_tell_rows(question: str, figure: float) -> None:
    with open_tables(FILM_ROWS) as database:
        assert answer(database, question, FILMS)[0][-1] == figure


RACE = TableProfile(
    "city_race",
    4,
    (
        Column("runner_country", "text", "category", 2, top=("ITA", "KEN"), values=("ITA", "KEN")),
        Column("gender", "text", "category", 2, top=("F", "M"), values=("F", "M")),
        Column("minutes", "number", "numeric", 4, low=130, high=300),
    ),
)


def test_a_person_of_whom_a_trait_is_stored_names_the_rows() -> None:
    rows = {RACE: "('ITA', 'F', 130), ('KEN', 'F', 140), ('KEN', 'F', 150), ('ITA', 'M', 300)"}
    with open_tables(rows) as database:
        assert answer(database, "share of women among the runners", RACE)[0][0] == 0.75


def test_a_numbered_name_is_free() -> None:
    assert numbered_name("Client", ["client", "Client (2)", "CLIENT (3)"]) == "Client (4)"


def _plan(*steps: Step) -> Plan:
    return Plan(source=DatasetSource(kind="dataset", table="bills"), steps=[*steps])


def test_lists_of_values_mean_the_same_in_any_order() -> None:
    client = build.column("client")
    first, second = (
        meaning_of(_plan(build.keep(build.is_one_of(client, values))))
        for values in (("Ames", "Bard"), ("Bard", "Ames"))
    )
    assert first.agrees(second)


def test_a_filter_that_all_figures_imply_means_nothing_more() -> None:
    client = build.column("client")
    figures = build.group(
        [],
        [
            build.aggregation(name, "sum", "amount", build.compare("=", client, build.literal(name)))
            for name in ("Ames", "Bard")
        ],
    )
    bare = meaning_of(_plan(figures))
    assert meaning_of(_plan(build.keep(build.is_one_of(client, ("Ames", "Bard"))), figures)).agrees(bare)
    assert not meaning_of(_plan(build.keep(build.is_one_of(client, ("Ames", "Cole"))), figures)).agrees(bare)


def test_misspelt_questions_are_read() -> None:
    assert isinstance(parse_question("avrage amount by client", [BILLS]), ParsedQuestion)
