"""Thresholds of goals: "over five minutes late", "at least 2.5 kilos", "150k or more", "within a week"."""

import re
from dataclasses import dataclass, field

from app.agents.goals.phrases.past_spans import without_past_spans
from app.agents.goals.tables.units import find_unit
from app.agents.goals.words.vocabulary import word_set
from app.number_words import ABOVE_ONE


@dataclass(frozen=True)
class Threshold:
    """A value of the target that the goal asks about: is it above, or else below?"""

    above: bool
    value: float
    unit: str | None = None
    """The unit's word behind the value."""
    noun: str | None = None
    """The word behind the value that is no unit: `rooms` in "more than three rooms"."""
    describes_rows: bool = field(default=False, compare=False)
    """A preposition stands before it: "flats with more than three rooms"."""
    is_inclusive: bool = field(default=False, compare=False)
    """The value itself meets it: "three or more"."""
    subject: str | None = field(default=None, compare=False)
    """The word before a sign, which it compares: `csat` of "csat >= 4"."""


_NUMBERS = "|".join(ABOVE_ONE)
_ADJECTIVES = (
    "more|greater|higher|longer|heavier|older|later|bigger|larger|slower|less|fewer|lower|shorter|lighter|younger"
    "|earlier|smaller|cheaper|faster"
)
_LOWER = word_set(
    "less fewer lower shorter lighter younger earlier smaller cheaper faster below under beneath most up to"
    " within worse"
)
_INCLUSIVE = re.compile(r"\b(?:at least|at most|up to|within|upwards?|and up|or [a-z]{2,6})\b", re.IGNORECASE)
"""Words of bounds that their own value meets."""
_DESCRIBING = word_set("with of having for among")
"""Prepositions before a bound that says more of the rows."""
_FACTOR = r"(?P<factor>k|thousand|grand|million|billion)\b"
_AMOUNT = (
    r"(?:the )?(?P<sign>minus |-)?[$€£]?"
    rf"(?P<value>\d[\d,_]{{0,30}}(?: \d{{3}}\b){{0,3}}(?:\.\d{{1,20}})?"
    rf"|(?:(?:a )?half|(?:a )?quarter|{_NUMBERS}|one|an?)\b)"
    rf"(?P<half> and a half)?(?P<part> of an?| an?)?(?: ?{_FACTOR})?(?: ?(?P<unit>[a-z]{{1,15}}|%))?"
    r"(?P<half_behind> and a half)?"
)
_THRESHOLD = re.compile(
    r"\b(?P<denied>(?:no|not) )?(?P<side>above|over|past|top(?:s|ping)?|exceed(?:s|ing)?|beyond|below|under"
    r"|beneath|at least|at most|up to|within"
    rf"|(?:{_ADJECTIVES})(?: [a-z]{{1,15}})? than|(?<=[a-z]er )than)\s{{1,3}}{_AMOUNT}",
    re.IGNORECASE,
)
_TAIL = re.compile(
    rf"(?<![\w.,]){_AMOUNT}(?: [a-z]{{2,15}})? (?:or (?P<side>more|above|better|higher|over|longer"
    r"|later|up|less|fewer|below|lower|under|worse)|(?:upwards?|and up|up))\b",
    re.IGNORECASE,
)
_SIGN = re.compile(
    rf"(?<!\w)`?(?P<subject>[^\W\d]\w{{0,80}})`? {{0,3}}(?P<side>[<>]=?|=[<>]|[≥≤]) {{0,3}}{_AMOUNT}",
    re.IGNORECASE,
)
_PLUS = re.compile(
    r"(?<![\w.,+-])(?P<value>\d[\d,]{0,30}(?:\.\d{1,20})?) ?(?P<factor>k)?\+(?! ?\d)"
    r"(?: ?(?P<unit>[a-z]{1,15}|%))?",
    re.IGNORECASE,
)
"""A number with a plus behind it: "4+", "10+ days", and not the first of a sum."""
_LOWER_SIGNS = frozenset("<≤")
_INCLUSIVE_SIGNS = frozenset("=≥≤+")
_FACTORS = {"k": 1e3, "thousand": 1e3, "grand": 1e3, "million": 1e6, "billion": 1e9}
_PARTS = {"half": 0.5, "a half": 0.5, "quarter": 0.25, "a quarter": 0.25, "a": 1.0, "an": 1.0, "one": 1.0}
_MINUTES_PER_HOUR = 60
"""Minutes: "half an hour" is counted in them, as columns count it."""


def parse_threshold(text: str) -> Threshold | None:
    """Parse the first comparison of a goal with a number."""
    text = without_past_spans(text)
    patterns = (_SIGN, _PLUS, _TAIL, _THRESHOLD)
    for match in (match for pattern in patterns for match in pattern.finditer(text)):
        if threshold := _read(match):
            return threshold
    return None


def _read(match: re.Match[str]) -> Threshold | None:
    groups = match.groupdict()
    number_text = match["value"].casefold()
    unit, factor = (match["unit"] or "").casefold(), (match["factor"] or "").casefold()
    word = "percent" if unit == "%" else unit
    unit_word = word if find_unit(word) else None
    if number_text in _PARTS and not unit_word and not factor:
        return None  # "over a river": an article without a unit is no number
    value = _read_number(number_text) + (0.5 if groups.get("half") or groups.get("half_behind") else 0.0)
    value *= _FACTORS.get(factor, 1.0) * (-1.0 if groups.get("sign") else 1.0)
    if number_text in _PARTS and value < 1 and unit_word == "hour":
        value, unit_word = value * _MINUTES_PER_HOUR, "minutes"
    before, behind = match.string[: match.start()].split(), match.string[match.end() :].split()
    describes_rows = bool(before) and before[-1].casefold() in _DESCRIBING
    if not word and describes_rows and behind:  # "of three or more people"
        word = behind[0].strip(".,;:!?()").casefold()
    is_above, is_inclusive = _read_side(match)
    return Threshold(
        above=is_above,
        value=value,
        unit=unit_word,
        noun=word if word and not unit_word else None,
        describes_rows=describes_rows,
        is_inclusive=is_inclusive,
        subject=groups.get("subject"),
    )


def _read_side(match: re.Match[str]) -> tuple[bool, bool]:
    """Return if a bound is a lower one, and if its own value meets it. "No less than 700" is 700 or more."""
    groups = match.groupdict()
    side = (groups.get("side") or "+").casefold()
    if not side[0].isalpha():
        return _LOWER_SIGNS.isdisjoint(side), not _INCLUSIVE_SIGNS.isdisjoint(side)
    is_above = side == "up" or _LOWER.isdisjoint(side.split())
    is_inclusive = _INCLUSIVE.search(match[0]) is not None
    is_denied = bool(groups.get("denied"))
    return is_above != is_denied, is_inclusive != is_denied


def _read_number(text: str) -> float:
    if text in _PARTS:
        return _PARTS[text]
    count = ABOVE_ONE.get(text)
    return float(re.sub(r"[,_ ]", "", text)) if count is None else float(count)
