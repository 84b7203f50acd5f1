"""Numbers, times of day and periods in words, and schedules that cannot be kept."""

import pytest

from app.number_words import read_number_words
from app.workflows.intent.spelled_numbers import spell_out
from app.workflows.phrases.schedule_phrases import explain_no_schedule, read_schedule


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("run it at half past seven", "run it at 7:30"),
        ("at a quarter to nine", "at 8:45"),
        ("at ten to one", "at 12:50"),
        ("at twenty past 4 pm", "at 4:20 pm"),
        ("at seven forty-five", "at 7:45"),
        ("at Eleven o'clock", "at 11 o'clock"),
        ("at seven in the evening", "at 7 in the evening"),
        ("every other week", "every 2 weeks"),
        ("every third day", "every 3 days"),
        ("once a fortnight", "every 2 weeks"),
        ("keep the ten most expensive ones", "keep the 10 most expensive ones"),
        ("change the threshold to two thousand", "change the threshold to 2000"),
        ("a dozen rows and twenty-five items", "12 rows and 25 items"),
        # Numbers that are names, values or quotes, and digits that are no time.
        ("from 9 to 12", "from 9 to 12"),
        ("add one of them", "add one of them"),
        ("where size is two", "where size is two"),
        ("say 'top ten rows'", "say 'top ten rows'"),
        ("https://example.com/top ten", "https://example.com/top ten"),
        ("change the quarter to autumn", "change the quarter to autumn"),
        ("half past thirteen", "half past thirteen"),
    ],
)
def test_words_that_count_become_digits(text: str, plain: str) -> None:
    assert spell_out(text) == plain
    assert spell_out(plain) == plain


def test_number_words_are_added_up() -> None:
    words = ("seven", "ninety nine", "a hundred", "two thousand", "two thousand five hundred", "half")
    assert [read_number_words(word) for word in words[:-1]] == [7, 99, 100, 2_000, 2_500]
    with pytest.raises(KeyError):
        read_number_words(words[-1])


@pytest.mark.parametrize(
    ("words", "schedule"),
    [
        ("every other week", {"kind": "interval", "every_s": 1_209_600}),
        ("every other month at half past six", "30 6 1 */2 *"),
        ("every quarter", "0 8 1 */3 *"),
        ("every twelve months", "0 8 1 1 *"),
        ("every weekday at quarter past nine", "15 9 * * 1-5"),
    ],
)
def test_periods_in_words_are_schedules(words: str, schedule: object) -> None:
    plain = spell_out(words)
    config = read_schedule(plain)
    assert (config if isinstance(schedule, dict) else config and config["cron"]) == schedule
    assert explain_no_schedule(plain) is None


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("every other Monday at 9", "cannot leave every other one out"),
        ("every second day at eight", "`every 2 days` counts from when it is saved"),
        ("every three weeks on Friday", "`every 3 weeks` counts from when it is saved"),
        ("every five months", "`every 5 months` does not divide a year"),
    ],
)
def test_a_schedule_that_cannot_be_kept_says_why(words: str, reason: str) -> None:
    assert reason in str(explain_no_schedule(spell_out(words)))
