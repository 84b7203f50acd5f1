"""Numbers, dates, months and weekdays that stand in a question."""

from datetime import date

import pytest

from app.agents.questions.learned.text_nodes import MAX_WORDS, TextNode, find_nodes, split_words


def nodes_of(text: str, kind: str) -> list[TextNode]:
    return [node for node in find_nodes(split_words(text)) if node.kind == kind]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("orders over 1,200.50", [1200.5]),
        ("more than 3k or 2.5 million", [3000, 3, 2_500_000]),
        ("from .5 to 1e6", [0.5, 1_000_000]),
        ("a 500m race", [500_000_000, 500]),
        ("over a third of them", [3, 1 / 3]),
        ("at least twelve, at most a dozen", [12, 12]),
        ("between 30-40", [30, 40]),
        ("colder than -5 degrees", [-5]),
        ("top five in 2023", [5, 2023]),
        ("trips of 3 m", [3]),
    ],
)
def test_numbers(text: str, numbers: list[float]) -> None:
    assert [node.number for node in nodes_of(text, "number")] == numbers


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("on 2023-05-14", date(2023, 5, 14), date(2023, 5, 14)),
        ("on 14.05.2023", date(2023, 5, 14), date(2023, 5, 14)),
        ("after 14.05.2023 in Leeds", date(2023, 5, 14), date(2023, 5, 14)),
        ("since 14/05/2023 or so", date(2023, 5, 14), date(2023, 5, 14)),
        ("since May 2023", date(2023, 5, 1), date(2023, 5, 31)),
        ("before 3rd of March, 2020", date(2020, 3, 3), date(2020, 3, 3)),
        ("until Feb 29, 2024", date(2024, 2, 29), date(2024, 2, 29)),
        ("sales in Q4 2022", date(2022, 10, 1), date(2022, 12, 31)),
        ("in 2021-02", date(2021, 2, 1), date(2021, 2, 28)),
        ("H2 2019", date(2019, 7, 1), date(2019, 12, 31)),
        ("orders of 2024", date(2024, 1, 1), date(2024, 12, 31)),
        ("third quarter of 2024", date(2024, 7, 1), date(2024, 9, 30)),
        ("the last quarter 2024", date(2024, 10, 1), date(2024, 12, 31)),
        ("2nd half of 2023", date(2023, 7, 1), date(2023, 12, 31)),
        ("builders of the 1870s", date(1870, 1, 1), date(1879, 12, 31)),
    ],
)
def test_dates(text: str, start: date, end: date) -> None:
    assert [(node.start, node.end) for node in nodes_of(text, "date")] == [(start, end)]


def test_a_month_has_the_year_of_the_later_one() -> None:
    spans = [(node.start, node.end) for node in nodes_of("from November to February 2024", "date")]
    assert spans == [(date(2023, 11, 1), date(2023, 11, 30)), (date(2024, 2, 1), date(2024, 2, 29))]


def test_days_that_do_not_exist_are_no_dates() -> None:
    spans = [(node.start, node.end) for node in nodes_of("on 2023-02-30 and 31.11.2023", "date")]
    assert spans == [(date(2023, 1, 1), date(2023, 12, 31))] * 2


def test_parts_of_dates() -> None:
    assert [node.number for node in nodes_of("from june to Sept on Fridays and sundays", "month")] == [6, 9]
    assert [node.number for node in nodes_of("from june to Sept on Fridays and sundays", "weekday")] == [4, 6]


def test_other_digits_are_no_numbers() -> None:
    assert find_nodes(split_words("\u2776 total sales \u1369 by region")) == []


def test_long_texts_are_cut() -> None:
    assert len(split_words("word " * 500)) == MAX_WORDS
