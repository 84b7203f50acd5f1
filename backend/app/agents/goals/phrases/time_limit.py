"""Limits on the session's own time in the words of a goal: "take at most two minutes"."""

import re
from typing import NamedTuple

from app.agents.goals.words.typed_pattern import TypedPattern
from app.agents.goals.words.vocabulary import COUNT_WORDS, SECONDS_BY_UNIT, UNIT_ABBREVIATIONS

MIN_LIMIT_S, MAX_LIMIT_S = 1.0, 86_400.0
"""Seconds, the bounds of the preference `time_budget_s`."""

_SECONDS_BY_UNIT = {"second": 1.0, "sec": 1.0, "s": 1.0, **SECONDS_BY_UNIT}
_COUNT = rf"(?P<{{}}>\d{{{{1,6}}}}(?:\.\d{{{{1,3}}}})?|half an?|{'|'.join(COUNT_WORDS)})"
_UNIT = r"(?P<{}>seconds?|secs?|s|minutes?|mins?|hours?|hrs?|h)\b"
_NO_MORE_THAN = (
    r"(?:at most|no more than|not more than|no longer than|not longer than|up to|less than|under|within)"
)
_WORK = r"(?:take|spend|use|train|run|work|fit|compute|finish|be done|be ready)"
_CLAUSE = r"(?:^|[.;:!?,(\n]\s{0,3}|\band |\bbut )(?:please |you may |you can |you should |only ){0,2}"
"""Begin of a request to the crew. "Trips that take less than two minutes" is about the rows."""


class _LimitGroups(NamedTuple):
    """Number and unit of one of the phrases."""

    number: str
    unit: str

    @property
    def seconds(self) -> float:
        text = self.number.lower()
        count = 0.5 if text.startswith("half") else float(COUNT_WORDS.get(text) or text)
        unit = self.unit.lower()
        singular = unit if unit in _SECONDS_BY_UNIT else unit.removesuffix("s")
        return count * _SECONDS_BY_UNIT[UNIT_ABBREVIATIONS.get(singular, singular)]


def _amount(alternative: int) -> str:
    """Return the pattern of a number and a unit, with names for one alternative of a typed pattern."""
    return rf"{_COUNT.format(f'number{alternative}')} ?{_UNIT.format(f'unit{alternative}')}"


_LIMIT = TypedPattern(
    re.compile(
        rf"{_CLAUSE}{_WORK}(?: (?:the models?|models|it|for|in)){{0,2}} {_NO_MORE_THAN} {_amount(1)}"
        rf"|\b(?:time|training) ?(?:budget|limit)(?: of| is| are|:){{0,2}}(?: at most)? {_amount(2)}"
        rf"|{_CLAUSE}you have (?:only |just |at most )?{_amount(3)}"
        rf"|{_CLAUSE}(?:in|within) {_amount(4)} at (?:the )?most",
        re.IGNORECASE,
    ),
    _LimitGroups,
)


def parse_time_limit(text: str) -> tuple[float | None, str]:
    """Parse the seconds that a goal allows the session. Returns them and the goal without that phrase."""
    match = _LIMIT.regex.search(text)
    if match is None:
        return None, text
    seconds = min(max(_LIMIT.read(match).seconds, MIN_LIMIT_S), MAX_LIMIT_S)
    return seconds, text[: match.start()] + text[match.end() :]
