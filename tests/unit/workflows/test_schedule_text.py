"""Triggers in words: days, times, zones and intervals."""

import random
from typing import Any

import pytest

from app.workflows.cron import parse_cron
from app.workflows.node_configs import Trigger
from app.workflows.phrases.schedule_phrases import read_schedule
from app.workflows.schedule_text import describe_cron, describe_trigger


@pytest.mark.parametrize(
    ("cron", "text"),
    [
        ("0 8 * * 1-5", "every weekday at 8:00"),
        ("30 8,20 * * *", "every day at 8:30 and 20:30"),
        ("0 0 * * 0,6", "every Saturday and Sunday at 0:00"),
        ("5 9 * * 7", "every Sunday at 9:05"),
        ("0 8 1,15 * *", "on days 1 and 15 of the month at 8:00"),
        ("0 8 13 * 5", "on day 13 of the month and every Friday at 8:00"),
        ("0 8 1 1,7 *", "on day 1 of the month in January and July at 8:00"),
        ("0 8 * 2 *", "every day in February at 8:00"),
        ("* * * * *", "every minute"),
        ("0 * * * *", "every hour"),
        ("*/15 * * * *", "every 15 minutes"),
        ("7 * * * 1-5", "every weekday, every hour at minute 7"),
        ("0,20 9-17 * * 1-5", "every weekday at minute 0 and 20 of hour 9 to 17"),
        ("*/7 * * * *", "every hour at minute 0, 7, 14, 21, 28, 35, 42, 49 and 56"),
    ],
)
def test_a_schedule_is_described_by_its_days_and_times(cron: str, text: str) -> None:
    assert describe_cron(parse_cron(cron)) == text


@pytest.mark.parametrize(
    ("config", "text"),
    [
        (
            {"kind": "schedule", "cron": "0 8 * * 1-5", "time_zone": "Europe/Berlin"},
            "every weekday at 8:00, Europe/Berlin",
        ),
        ({"kind": "interval", "every_s": 3_600}, "every hour"),
        ({"kind": "interval", "every_s": 5_400, "enabled": False}, "every 90 minutes, switched off"),
        ({"kind": "webhook", "secret": "ops"}, "by a call of its address that is signed with the secret ops"),
        ({"kind": "manual"}, "by hand"),
    ],
)
def test_a_trigger_is_described_by_its_kind(config: dict[str, Any], text: str) -> None:
    assert describe_trigger(Trigger.model_validate(config)) == text


def test_the_words_of_a_schedule_mean_the_same_schedule() -> None:
    draw = random.Random(1)
    for _ in range(300):
        days = draw.choice(["* * *", "* * 1-5", "* * 1", "* * 0,6", "* * 2,4"])
        config = {
            "kind": "schedule",
            "cron": f"{draw.randrange(60)} {draw.randrange(24)} {days}",
            "time_zone": "UTC",
        }
        words = describe_trigger(Trigger.model_validate(config))
        again = read_schedule(words)
        assert again is not None, words
        assert parse_cron(again["cron"]) == parse_cron(config["cron"]), words
