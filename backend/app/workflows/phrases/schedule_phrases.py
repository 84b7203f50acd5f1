"""Schedules in words: `every weekday at 8`, `on the first of each month`, `every 15 minutes`."""

import re
from typing import Any

_DAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_UNIT_SECONDS = {"minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
_PERIOD_DAYS = {"morning": 8, "noon": 12, "afternoon": 15, "evening": 18, "night": 0, "midnight": 0}
"""Hours that a time of day stands for where none is named."""
DEFAULT_HOUR = 8
"""Hour of a daily run whose hour is not named: results are there when work begins."""

_NOON = 12
"""Hours from midnight to noon, by which hours of a clock of twelve are moved."""
_FIRST_HOUR_OF_NIGHT = 6
"""Hour from which `at night` is before midnight: `at 11` is 23:00, `at 2` stays 2:00."""

_CLOCK = re.compile(
    r"\b(?:at|(?<=schedule )to|(?<=run )to|(?<=time )to) (?P<hour>\d{1,2})"
    r"(?::(?P<minute>\d\d))?(?: ?(?P<half>[ap])\.?m\.?)?(?: o'clock)?\b(?!%|/|[,.]\d)|"
    r"\b(?P<hour2>\d{1,2}):(?P<minute2>\d\d)(?: ?(?P<half2>[ap])\.?m\.?)?\b|\b(?P<hour3>\d{1,2}) "
    r"?(?P<half3>[ap])\.?m\b"
)
_EVERY_N = re.compile(r"\bevery (?P<count>\d+) (?P<unit>minute|hour|day|week)s?\b")
_TIMES_PER = re.compile(
    r"(?<!than )(?<!least )(?<!most )\b(?:twice|thrice|\w{1,10} times) (?:an?|per|each|every) "
    r"(?:minute|hour|day|week|month|quarter|year)\b"
)
_TWICE_A_DAY = re.compile(r"\btwice (?:a|per|each|every) day\b")
_PLACED_DAY = re.compile(
    rf"(?<!by )(?<!by the )\b(?:last (?:day|{'|'.join(_DAYS)}|weekday|workday|business day)|"
    rf"(?:first|second|third|fourth|fifth) (?:{'|'.join(_DAYS)}|weekday|workday|business day))\b"
)
"""Days that a month has at other numbers each time: `the last day`, `the first Monday`."""
_DAYS_BY_ORDINAL = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "tenth": 10, "fifteenth": 15}
_DAY_OF_MONTH = re.compile(rf"\bon (?:the )?(\d{{1,2}}|{'|'.join(_DAYS_BY_ORDINAL)})(?:st|nd|rd|th)?\b(?!:)")
_MAX_DAY_OF_MONTH = 31
"""Number of the last day that any month has; months without it are left out, as cron does."""
_MONTHLY = re.compile(
    r"\bmonthly\b|\b(?:every|each|once an?|once per) month\b|\bof (?:each|every|the) (?:month|quarter)\b|"
    r"\bevery \d+ months?\b"
)
_QUARTERLY = re.compile(r"\bquarterly\b|\b(?:every|each|once a|once per) quarter\b")
_EVERY_N_MONTHS = re.compile(r"\bevery (?P<count>\d+) months?\b")
_EVERY_OTHER_DAY = re.compile(
    rf"\bevery (?:other|second|third|fourth) (?:{'|'.join(_DAYS)}|weekday|weekend|morning)s?\b"
)
_MONTHS_OF_YEAR = 12
"""Months: a step of months in cron begins anew each year, so it has to divide it."""
_ZONE = re.compile(r"\b([A-Z][A-Za-z]+/[A-Z][A-Za-z_]+|UTC)\b")


def read_schedule(message: str, zone: str = "UTC") -> dict[str, Any] | None:
    """Return the configuration of a trigger, or None where no schedule is named, or one that cannot be kept."""
    if explain_no_schedule(message):
        return None
    zone_words = _ZONE.search(message)
    zone = zone_words[1] if zone_words else zone
    text = message.lower()
    every = _EVERY_N.search(text)
    # Before times of day: `every 8 hours` has no clock, and its 8 is none.
    if every is not None:
        seconds = int(every["count"]) * _UNIT_SECONDS[every["unit"]]
        return {"kind": "interval", "every_s": seconds} if seconds >= 60 else None
    if re.search(r"\bhourly\b|\b(?:every|each|once an|once per) hour\b", text):
        return _schedule("0 * * * *", zone)
    if re.search(r"\b(?:every|each) minute\b", text):
        return {"kind": "interval", "every_s": 60}
    days, clock = _read_days(text), _read_clock(text)
    if days is None and clock is None:
        return None
    hour, minute = clock or (_read_period(text), 0)
    hours = f"{hour},{(hour + 12) % 24}" if _TWICE_A_DAY.search(text) else str(hour)
    return _schedule(f"{minute} {hours} {days or '* * *'}", zone)


def explain_no_schedule(message: str) -> str | None:
    """Say why the schedule of a message cannot be kept, and what can; None for one that can, or without one."""
    text = message.lower()
    every = _EVERY_N.search(text)
    if _EVERY_OTHER_DAY.search(text):
        return (
            "A schedule names days of the week or of the month, and cannot leave every other one out. Say "
            "`every 2 weeks`, counted from when it is saved, or days of the month: `on the 1st of each month`."
        )
    times = _TIMES_PER.search(text)
    if times is not None and not _TWICE_A_DAY.fullmatch(times[0]):
        return (
            f"A schedule names its days and times, and `{times[0]}` names none. Say them (`every Monday and "
            "Thursday at 9`), or a pause between two runs (`every 30 minutes`)."
        )
    if _MONTHLY.search(text) or _QUARTERLY.search(text):
        placed = _PLACED_DAY.search(text)
        if placed is not None or not 1 <= _read_day_of_month(text) <= _MAX_DAY_OF_MONTH:
            return (
                f"A schedule names a day of the month by its number from 1 to {_MAX_DAY_OF_MONTH}"
                + (f", and `{placed[0]}` has another one each time" if placed else "")
                + ". Say `on the 1st of each month`."
            )
    if every is not None and every["unit"] in ("day", "week") and (_read_clock(text) or _names_day(text)):
        return (
            f"`{every[0]}` counts from when it is saved and has no time or day of its own. Say it alone, or a "
            "time with days of the week: `every Monday at 9`."
        )
    months = _EVERY_N_MONTHS.search(text)
    if months is not None and (not int(months["count"]) or _MONTHS_OF_YEAR % int(months["count"])):
        return f"`{months[0]}` does not divide a year. Say every 1, 2, 3, 4, 6 or 12 months."
    return None


def _names_day(text: str) -> bool:
    return re.search(rf"\b(?:{'|'.join(_DAYS)})s?\b", text) is not None


def _schedule(cron: str, zone: str) -> dict[str, Any]:
    return {"kind": "schedule", "cron": cron, "time_zone": zone}


def _read_days(text: str) -> str | None:
    """Return the last three fields of a cron expression."""
    if re.search(r"\b(?:weekdays?|workdays?|skip weekends?|not on weekends?|business days?)\b", text):
        return "* * 1-5"
    if re.search(r"\b(?:(?:every|each|on|at) (?:the )?weekend|weekends)\b", text):
        return "* * 0,6"
    day_numbers = [str(place) for place, day in enumerate(_DAYS) if re.search(rf"\b{day}s?\b", text)]
    if day_numbers:
        return f"* * {','.join(day_numbers)}"
    if _MONTHLY.search(text) or _QUARTERLY.search(text):
        return f"{_read_day_of_month(text)} {_read_months(text)} *"
    # A week begins on Monday, where its day is not named.
    if re.search(r"\bweekly\b|\b(?:every|each|once a|once per) week\b", text):
        return "* * 1"
    daily = (
        r"\b(?:daily|nightly|(?:once|twice) (?:a|per|each|every) day)\b|"
        r"\b(?:every|each) (?:single )?(?:day|morning|noon|afternoon|evening|night)\b"
    )
    if re.search(daily, text) or re.search(r"\bat (?:noon|midnight|night)\b", text):
        return "* * *"
    return None


def _read_day_of_month(text: str) -> int:
    """Return the day of the month that a text names, by default the first; it may be no day of any month."""
    day = _DAY_OF_MONTH.search(text)
    if day is None:
        return 1
    return _DAYS_BY_ORDINAL.get(day[1]) or int(day[1])


def _read_months(text: str) -> str:
    """Return the field of months of a cron expression: all, those of a step, or January for once a year."""
    months = _EVERY_N_MONTHS.search(text)
    step = int(months["count"]) if months else 3 if _QUARTERLY.search(text) else 1
    if step == 1:
        return "*"
    return f"*/{step}" if step < _MONTHS_OF_YEAR else "1"


def _read_clock(text: str) -> tuple[int, int] | None:
    clock = _CLOCK.search(text)
    if clock is None:
        return None
    hour = int(clock["hour"] or clock["hour2"] or clock["hour3"])
    minute = int(clock["minute"] or clock["minute2"] or 0)
    half = clock["half"] or clock["half2"] or clock["half3"]
    if half is not None:
        hour = hour % 12 + (12 if half == "p" else 0)
    elif clock["hour"]:
        hour = _place_in_period(hour, text)
    return (hour, minute) if hour < 24 and minute < 60 else None


def _place_in_period(hour: int, text: str) -> int:
    """Return the hour of 24 that an hour of a part of the day is: `every evening at 8` is at 20."""
    if hour < _NOON and re.search(r"\b(?:evening|tonight|afternoon)\b", text):
        return hour + _NOON
    if re.search(r"\b(?:night|nightly)\b", text) and _FIRST_HOUR_OF_NIGHT <= hour <= _NOON:
        return (hour + _NOON) % 24
    return hour


def _read_period(text: str) -> int:
    if "nightly" in text:
        return 0
    return next(
        (hour for word, hour in _PERIOD_DAYS.items() if re.search(rf"\b{word}s?\b", text)), DEFAULT_HOUR
    )
