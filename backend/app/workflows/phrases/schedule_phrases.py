"""Schedules in words: `every weekday at 8`, `on the first of each month`, `every 15 minutes`."""

import re
from typing import Any

_DAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_UNIT_SECONDS = {"minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
_PERIOD_DAYS = {"morning": 8, "noon": 12, "afternoon": 15, "evening": 18, "night": 0, "midnight": 0}
"""Hours that a time of day stands for where none is named."""
DEFAULT_HOUR = 8
"""Hour of a daily run whose hour is not named: results are there when work begins."""

_CLOCK = re.compile(
    r"\b(?:at|(?<=schedule )to|(?<=run )to|(?<=time )to) (?P<hour>\d{1,2})"
    r"(?::(?P<minute>\d\d))?(?: ?(?P<half>[ap])\.?m\.?)?(?: o'clock)?\b(?!%|/|[,.]\d)|"
    r"\b(?P<hour2>\d{1,2}):(?P<minute2>\d\d)(?: ?(?P<half2>[ap])\.?m\.?)?\b|\b(?P<hour3>\d{1,2}) "
    r"?(?P<half3>[ap])\.?m\b"
)
_EVERY_N = re.compile(r"\bevery (?P<count>\d+) (?P<unit>minute|hour|day|week)s?\b")
_EVERY_N_MONTHS = re.compile(r"\bevery (?P<count>\d+) months?\b")
_EVERY_OTHER_DAY = re.compile(
    rf"\bevery (?:other|second|third|fourth) (?:{'|'.join(_DAYS)}|weekday|weekend|morning)s?\b"
)
_MONTHS_OF_YEAR = 12
"""Months: a step of months in cron begins anew each year, so it has to divide it."""
_ZONE = re.compile(r"\b([A-Z][A-Za-z]+/[A-Z][A-Za-z_]+|UTC)\b")


def read_schedule(message: str, zone: str = "UTC") -> dict[str, Any] | None:
    """Return the configuration of a trigger, or None where no schedule is named."""
    zone_words = _ZONE.search(message)
    zone = zone_words[1] if zone_words else zone
    text = message.lower()
    every = _EVERY_N.search(text)
    # Before times of day: `every 8 hours` has no clock, and its 8 is none.
    if every is not None:
        seconds = int(every["count"]) * _UNIT_SECONDS[every["unit"]]
        return {"kind": "interval", "every_s": seconds} if seconds >= 60 else None
    if re.search(r"\bhourly\b|\b(?:every|each|once an) hour\b", text):
        return _schedule("0 * * * *", zone)
    if re.search(r"\b(?:every|each) minute\b", text):
        return {"kind": "interval", "every_s": 60}
    days, clock = _read_days(text), _read_clock(text)
    if days is None and clock is None:
        return None
    hour, minute = clock or (_read_period(text), 0)
    hours = f"{hour},{(hour + 12) % 24}" if re.search(r"\btwice (?:a|per|each) day\b", text) else str(hour)
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
    if re.search(r"\b(?:every|each|on|at) (?:the )?weekends?\b", text):
        return "* * 0,6"
    day_numbers = [str(place) for place, day in enumerate(_DAYS) if re.search(rf"\b{day}s?\b", text)]
    if day_numbers:
        return f"* * {','.join(day_numbers)}"
    of_month = re.search(
        r"\bon the (first|\d{1,2})(?:st|nd|rd|th)? (?:day )?of (?:each|every|the) month\b", text
    )
    if of_month:
        return f"{1 if of_month[1] == 'first' else int(of_month[1])} * *"
    months = _EVERY_N_MONTHS.search(text)
    if months is not None or re.search(r"\bquarterly\b|\b(?:every|each|once a) quarter\b", text):
        step = int(months["count"]) if months else 3
        return f"1 */{step} *" if 1 < step < _MONTHS_OF_YEAR else f"1 {'*' if step == 1 else 1} *"
    if re.search(r"\bmonthly\b|\b(?:every|each) month\b", text):
        return "1 * *"
    # A week begins on Monday, where its day is not named.
    if re.search(r"\bweekly\b|\b(?:every|each) week\b", text):
        return "* * 1"
    daily = (
        r"\b(?:daily|nightly|twice (?:a|per|each) day)\b|"
        r"\b(?:every|each) (?:single )?(?:day|morning|noon|evening|night)\b"
    )
    if re.search(daily, text) or re.search(r"\bat (?:noon|midnight|night)\b", text):
        return "* * *"
    return None


def _read_clock(text: str) -> tuple[int, int] | None:
    clock = _CLOCK.search(text)
    if clock is None:
        return None
    hour = int(clock["hour"] or clock["hour2"] or clock["hour3"])
    minute = int(clock["minute"] or clock["minute2"] or 0)
    half = clock["half"] or clock["half2"] or clock["half3"]
    if half is not None:
        hour = hour % 12 + (12 if half == "p" else 0)
    # `every evening at 8` is at 20:00.
    elif clock["hour"] and hour < 12 and re.search(r"\b(?:evening|tonight|afternoon)\b", text):
        hour += 12
    return (hour, minute) if hour < 24 and minute < 60 else None


def _read_period(text: str) -> int:
    if "nightly" in text:
        return 0
    return next(
        (hour for word, hour in _PERIOD_DAYS.items() if re.search(rf"\b{word}s?\b", text)), DEFAULT_HOUR
    )
