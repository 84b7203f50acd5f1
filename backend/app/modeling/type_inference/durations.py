"""Durations and times of day in text, as hours: `14:30`, `1:05:09`, `7:30 pm`, `1h 30m`, `2 days 03:04`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

MIN_DURATION_SHARE = 0.95
"""Share of the values that must be durations."""
MIN_DISTINCT_VALUES = 3
"""Distinct values: fewer may be codes."""
MAX_PROBED_VALUES = 60
"""Distinct values that are parsed first, to rule out most columns early."""

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
class DurationGuess:
    """`share` of the values are durations."""

    share: float
    example: str


def parse_hours(text: str) -> float | None:
    """Parse a duration or a time of day; None for another text. The first number of `12:34` is hours."""
    match = _CLOCK.fullmatch(text) or _SPELLED.fullmatch(text)
    if match is None or not any(match[unit] for unit in _HOURS):
        return None
    total = sum(float(match[unit]) * factor for unit, factor in _HOURS.items() if match[unit])
    half_day = match.groupdict().get("half")
    if half_day is None:
        return total
    if float(match["hours"]) > 12:
        return None
    return total % 12 + 12 * (half_day.lower() == "p")


def guess_durations(values: Mapping[str, int]) -> DurationGuess | None:
    """Infer durations from the counts of distinct values (trimmed text -> count).

    Durations in a single unit, such as `90 min`, are numbers and not durations here.
    """
    first = list(islice(values, MAX_PROBED_VALUES))
    if len(values) < MIN_DISTINCT_VALUES or sum(
        parse_hours(text) is not None for text in first
    ) < MIN_DURATION_SHARE * len(first):
        return None
    durations = {text: count for text, count in values.items() if parse_hours(text) is not None}
    share = sum(durations.values()) / sum(values.values())
    return DurationGuess(share, next(iter(durations))) if share >= MIN_DURATION_SHARE else None
