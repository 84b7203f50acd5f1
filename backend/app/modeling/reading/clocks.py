"""Lengths and times of day in text, as hours: `14:30`, `1:05:09`, `7:30 pm`, `1h 30m`, `2 days 03:04`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

SHARE = 0.95
FEWEST = 3
"""Different values."""
FIRST_LOOK = 60

_CLOCK = re.compile(
    r"(?:(?P<days>\d{1,4}) ?d(?:ays?)?,? )?(?P<hours>\d{1,4}):(?P<minutes>[0-5]\d)"
    r"(?::(?P<seconds>[0-5]\d(?:\.\d+)?))?"
    r"(?: ?(?P<half>[ap])\.?m\.?)?",
    re.IGNORECASE,
)
_SPELLED = re.compile(
    r"(?P<iso>p)?"
    r"(?:(?P<days>\d+) ?d(?:ays?)?)?[ ,t]*+"
    r"(?:(?P<hours>\d+(?:\.\d+)?) ?h(?:(?:ou)?rs?)?)?[ ,]*+"
    r"(?:(?P<minutes>\d+(?:\.\d+)?) ?m(?:in(?:ute)?s?)?)?[ ,]*+"
    r"(?:(?P<seconds>\d+(?:\.\d+)?) ?s(?:ec(?:ond)?s?)?)?",
    re.IGNORECASE,
)
_HOURS = {"days": 24.0, "hours": 1.0, "minutes": 1 / 60, "seconds": 1 / 3600}


@dataclass(frozen=True)
class ClockGuess:
    share: float
    example: str


def hours(text: str) -> float | None:
    """A length, or a time of day; None for another text. What stands before the colon of `12:34` is hours."""
    found = _CLOCK.fullmatch(text) or _SPELLED.fullmatch(text)
    if found is None or not any(found[part] for part in _HOURS):
        return None
    total = sum(float(found[part]) * factor for part, factor in _HOURS.items() if found[part])
    half = found.groupdict().get("half")
    if half is None:
        return total
    if float(found["hours"]) > 12:
        return None
    return total % 12 + 12 * (half.lower() == "p")


def guess_clocks(values: Mapping[str, int]) -> ClockGuess | None:
    """From the different values (trimmed text -> how often); single lengths such as `90 min` are numbers."""
    first = list(islice(values, FIRST_LOOK))
    if len(values) < FEWEST or sum(hours(text) is not None for text in first) < SHARE * len(first):
        return None
    known = {text: count for text, count in values.items() if hours(text) is not None}
    share = sum(known.values()) / sum(values.values())
    return ClockGuess(share, next(iter(known))) if share >= SHARE else None
