"""Thresholds of goals: "over five minutes late", "at least 2.5 kilos", "150k or more"."""

import re
from dataclasses import dataclass

from app.agents.goals.units import find_unit
from app.agents.goals.vocabulary import NUMBER_WORDS, word_set


@dataclass(frozen=True)
class Threshold:
    """A value of the target that the goal asks about: is it above, or else below?"""

    above: bool
    value: float
    unit: str | None = None
    """The unit's word behind the value."""


_NUMBERS = "|".join(NUMBER_WORDS)
_ADJECTIVES = (
    "more|greater|higher|longer|heavier|older|later|bigger|larger|slower|less|fewer|lower|shorter|lighter|younger"
    "|earlier|smaller|cheaper|faster"
)
_LOWER = word_set(
    "less fewer lower shorter lighter younger earlier smaller cheaper faster below under beneath most up"
)
_THRESHOLD = re.compile(
    r"\b(?P<side>above|over|exceed(?:s|ing)?|beyond|below|under|beneath|at least|at most|up to"
    rf"|(?:{_ADJECTIVES})(?: [a-z]{{1,15}})? than|(?<=[a-z]er )than)\s{{1,3}}(?:an? )?"
    rf"[$€£]?(?P<value>\d[\d,_]{{0,30}}(?:\.\d{{1,20}})?|{_NUMBERS})"
    r" ?(?P<factor>k\b|thousand\b|million\b)?(?: ?(?P<unit>[a-z]{1,15}|%))?",
    re.IGNORECASE,
)
_TAIL = re.compile(
    rf"\b[$€£]?(?P<value>\d[\d,_]{{0,30}}(?:\.\d{{1,20}})?|{_NUMBERS}) ?(?P<factor>k\b|thousand\b|million\b)?"
    r"(?: ?(?P<unit>[a-z]{1,15}|%))?"
    r" or (?P<side>more|above|higher|over|longer|later|less|fewer|below|lower|under)\b",
    re.IGNORECASE,
)
_FACTORS = {"k": 1e3, "thousand": 1e3, "million": 1e6}


def parse_threshold(text: str) -> Threshold | None:
    """Parse the first comparison of a goal with a number."""
    match = _TAIL.search(text) or _THRESHOLD.search(text)
    if match is None:
        return None
    side, unit = match["side"].casefold(), (match["unit"] or "").casefold()
    factor = _FACTORS.get((match["factor"] or "").casefold(), 1.0)
    word = "percent" if unit == "%" else unit
    return Threshold(
        above=_LOWER.isdisjoint(side.split()),
        value=_read_number(match["value"]) * factor,
        unit=word if find_unit(word) else None,
    )


def _read_number(text: str) -> float:
    count = NUMBER_WORDS.get(text.casefold())
    return float(text.replace(",", "").replace("_", "")) if count is None else float(count)
