"""Schedules in words: days of months, parts of the day, and schedules that cannot be kept."""

import pytest

from app.workflows.phrases.schedule_phrases import explain_no_schedule, read_schedule
from app.workflows.phrases.schedule_spans import split_schedule


@pytest.mark.parametrize(
    ("words", "cron"),
    [
        ("twice a day", "0 8,20 * * *"),
        ("monthly on the 15th", "0 8 15 * *"),
        ("every month on the 3rd at 6", "0 6 3 * *"),
        ("each month on the 20th", "0 8 20 * *"),
        ("on the 10th of every month at 7:15", "15 7 10 * *"),
        ("every 3 months on the 15th", "0 8 15 */3 *"),
        ("every quarter on the 2nd", "0 8 2 */3 *"),
        ("quarterly on the 5th at noon", "0 12 5 */3 *"),
        ("on the first of each month", "0 8 1 * *"),
        ("every 2 months on the first", "0 8 1 */2 *"),
        ("monthly", "0 8 1 * *"),
        ("once a month", "0 8 1 * *"),
        ("weekends at 10", "0 10 * * 0,6"),
        ("on weekends", "0 8 * * 0,6"),
        ("every weekend at 9:30", "30 9 * * 0,6"),
        ("skip weekends", "0 8 * * 1-5"),
        ("every night at 11", "0 23 * * *"),
        ("every night at 10:30", "30 22 * * *"),
        ("every night at 2", "0 2 * * *"),
        ("nightly at 9", "0 21 * * *"),
        ("nightly at 3", "0 3 * * *"),
        ("at night at 8", "0 20 * * *"),
        ("every night at 12", "0 0 * * *"),
        ("every night", "0 0 * * *"),
        ("nightly at 11pm", "0 23 * * *"),
        ("every afternoon", "0 15 * * *"),
        ("every afternoon at 4", "0 16 * * *"),
        ("each evening", "0 18 * * *"),
        ("every morning", "0 8 * * *"),
        ("every monday night at 9", "0 21 * * 1"),
        ("once a week", "0 8 * * 1"),
        ("once a day", "0 8 * * *"),
        ("once per day at 6", "0 6 * * *"),
        ("once per hour", "0 * * * *"),
        ("once an hour", "0 * * * *"),
        ("once each week on friday", "0 8 * * 5"),
        ("every 12 months", "0 8 1 1 *"),
        ("every day at 8", "0 8 * * *"),
    ],
)
def test_every_part_of_a_schedule_counts(words: str, cron: str) -> None:
    assert explain_no_schedule(words) is None
    assert (read_schedule(words) or {}).get("cron") == cron


@pytest.mark.parametrize(
    "words",
    [
        "twice each week",
        "run it twice each month",
        "twice each hour",
        "three times a week",
        "3 times each day",
        "twice per week",
        "thrice each month",
        "4 times every week",
        "on the last day of each month",
        "on the last day of the month",
        "every month on the last day",
        "on the last friday of each month",
        "on the first monday of every month",
        "on the second tuesday of each month",
        "on the 45th of each month",
        "on the 0th of each month",
    ],
)
def test_a_schedule_without_its_days_is_none_and_says_why(words: str) -> None:
    assert read_schedule(words) is None
    assert "Say" in str(explain_no_schedule(words))


@pytest.mark.parametrize(
    "words",
    [
        "keep users with more than 3 times a week",
        "group by the last day of each month",
        "count at most twice a day",
    ],
)
def test_counts_and_groups_are_no_schedules(words: str) -> None:
    assert explain_no_schedule(words) is None


@pytest.mark.parametrize(
    ("sentence", "words", "schedule"),
    [
        ("monthly on the 15th at 6 count the rows", "count the rows", "monthly on the 15th at 6"),
        ("send it weekends at 10", "send it", "weekends at 10"),
        ("once a week count the rows", "count the rows", "once a week"),
        ("every day on the first floor", "on the first floor", "every day"),
    ],
)
def test_a_sentence_is_split_from_its_whole_schedule(sentence: str, words: str, schedule: str) -> None:
    split = split_schedule(sentence, "UTC")
    assert (split.words, split.schedule) == (words, schedule)
