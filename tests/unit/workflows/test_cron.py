"""Cron in time zones: ticks come once, over changes of the clock too."""

from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise

import pytest

from app.workflows.cron import parse_cron


def ticks(expression: str, zone: str, start: str, count: int) -> list[str]:
    begin = datetime.fromisoformat(start).replace(tzinfo=UTC)
    return [f"{tick:%d %H:%M}" for tick in islice(parse_cron(expression, zone).ticks_after(begin), count)]


def test_a_time_that_is_skipped_comes_later_and_one_that_is_repeated_comes_once() -> None:
    spring = ticks("30 2 * * *", "Europe/Berlin", "2026-03-27", 4)
    assert spring == ["27 01:30", "28 01:30", "29 01:30", "30 00:30"]
    autumn = ticks("30 2 * * *", "Europe/Berlin", "2026-10-24", 3)
    assert autumn == ["24 00:30", "25 00:30", "26 01:30"]


def test_every_hour_neither_misses_nor_repeats_one() -> None:
    assert ticks("0 * * * *", "Europe/Berlin", "2026-10-24T22:30", 5) == [
        "24 23:00",
        "25 00:00",
        "25 01:00",
        "25 02:00",
        "25 03:00",
    ]


@pytest.mark.parametrize(
    ("expression", "first"),
    [
        ("0 8 * * 1-5", "26 08:00"),
        ("0 8 * * mon", "26 08:00"),
        ("*/20 9-10 * * *", "24 09:00"),
        ("0 0 29 2 *", "29 00:00"),
        ("0 0 1 * 7", "25 00:00"),
        ("5 4 13,31 * *", "31 04:05"),
    ],
)
def test_the_first_tick_after_a_saturday_morning(expression: str, first: str) -> None:
    assert ticks(expression, "UTC", "2026-10-24T08:00", 1) == [first]


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("0 8 * *", "five fields"),
        ("60 8 * * *", "minute"),
        ("0 8 * * fun", "day of week"),
        ("0 8-6 * * *", "ends before"),
        ("0 */0 * * *", "hour"),
        ("0 8 \N{ARABIC-INDIC DIGIT ONE} * *", "day of month"),
    ],
)
def test_a_wrong_expression_names_its_field(expression: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse_cron(expression)


def test_a_day_that_never_comes_has_no_tick() -> None:
    assert ticks("0 0 30 2 *", "UTC", "2026-01-01", 1) == []


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"])
@pytest.mark.parametrize("expression", ["*/15 * * * *", "30 1,2,3 * * *", "0 0 * * *", "7 3 * * 0"])
def test_ticks_of_two_years_rise_and_none_is_missing(expression: str, zone: str) -> None:
    cron, start = parse_cron(expression, zone), datetime(2026, 10, 20, tzinfo=UTC)
    few = list(islice(cron.ticks_after(start), 800))
    assert all(before < after for before, after in pairwise(few))
    # From any point on the ticks are the same: a worker that begins later computes the same next one.
    for place in (0, 1, 399, 798):
        assert next(cron.ticks_after(few[place])) == few[place + 1]
        assert next(cron.ticks_after(few[place] - timedelta(seconds=1))) == few[place]
