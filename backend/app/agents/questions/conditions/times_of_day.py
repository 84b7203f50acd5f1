"""Conditions on the time of day: `after 6 pm`, `between 7 and 9 in the morning`, `at night`."""

import re
from collections.abc import Sequence
from datetime import datetime

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.conditions.date_columns import date_reference, is_date_told
from app.agents.questions.conditions.date_spans import add_date
from app.agents.questions.phrases import PhraseMatch
from app.agents.questions.question_reading import QuestionReading, Value
from app.agents.questions.tables.scope import Reference
from app.plans import build
from app.plans.expressions import Expression

CLOCK = "oclock"
"""The word behind a number that is a time of day, as questions are reworded."""
HALF_DAY_HOURS, DAY_HOURS, MINUTES_PER_HOUR = 12, 24, 60
"""Hours of a half day and of a day, and minutes of an hour."""
_MERIDIEM = r"(?P<{0}>\s?[ap]\.?m\b\.?|\s?o['\u2019]?\s?clock\b)"
_PART = r"(?P<part>,? (?:in the (?:morning|afternoon|evening)|at night))"
_HOUR = r"(?P<{0}>\d{{1,2}})(?:(?::|h)(?P<{0}_minutes>[0-5]\d))?"
_PART_BEFORE = _PART.replace("<part>", "<before>")
_LOW, _HIGH = (_HOUR.format(end) + _MERIDIEM.format(f"{end}_half") + "?" for end in ("low", "high"))
_RANGE = re.compile(
    rf"(?:{_PART_BEFORE} )?\b(?:between|from) {_LOW}(?: and | to | until | till | ?- ?)"
    rf"{_HIGH}{_PART}?(?![\w.:])",
    re.IGNORECASE,
)
"""A span of hours, one of which at least says that it is one."""
_BOUND = re.compile(
    rf"(?:{_PART_BEFORE} )?\b(?P<sign>before|after|since|until|till|from|by|at|past) {_LOW}{_PART}?(?![\w.:])",
    re.IGNORECASE,
)
"""A single hour as a bound."""
_NAMED_HOURS = (
    (re.compile(r"\b(?:12 )?(?:noon|midday)\b", re.IGNORECASE), "12 o'clock"),
    (re.compile(r"\b(?:12 )?midnight\b", re.IGNORECASE), "0 o'clock"),
)
_PARTS: dict[str, tuple[int, int]] = {
    "morning": (5, 12),
    "mornings": (5, 12),
    "afternoon": (12, 18),
    "afternoons": (12, 18),
    "evening": (18, 22),
    "evenings": (18, 22),
    "night": (22, 5),
}
"""First hour of a part of the day and the hour at which it ends."""


def reword_times(question: str, tables: Sequence[TableProfile]) -> str:
    """Write times of day as hours from 0 to 24 before `oclock`, where some table has times with hours."""
    if not any(_has_hours(column) for table in tables for column in table.dates):
        return question
    text = question
    for pattern, hour in _NAMED_HOURS:
        text = pattern.sub(hour, text)
    text = _RANGE.sub(_write_range, text)
    return _BOUND.sub(_write_bound, text)


def _has_hours(column: Column) -> bool:
    """Tell if times of a column lie within days."""
    try:
        bounds = [datetime.fromisoformat(str(bound)) for bound in (column.low, column.high)]
    except ValueError:
        return False
    return any(bound.hour or bound.minute for bound in bounds)


def _write_range(match: re.Match[str]) -> str:
    part, own, other = match["part"] or match["before"], match["low_half"], match["high_half"]
    # Nothing in `between 7 and 9` says that hours are meant.
    if not (part or own or other or match["low_minutes"] or match["high_minutes"]):
        return match[0]
    # What is said once holds for both ends: `from 7 to 9 pm`.
    half = other or own
    high = _hour(match["high"], match["high_minutes"], half, part)
    low = _hour(match["low"], match["low_minutes"], own or half, part)
    if own is None and low > high:
        low = _hour(match["low"], match["low_minutes"], None, None)  # `between 9 and 1 pm`
    if low > DAY_HOURS or high > DAY_HOURS:
        return match[0]
    return f" between {low:g} {CLOCK} and {high:g} {CLOCK}"


def _write_bound(match: re.Match[str]) -> str:
    part = match["part"] or match["before"]
    if not (part or match["low_half"] or match["low_minutes"]):
        return match[0]
    hour = _hour(match["low"], match["low_minutes"], match["low_half"], part)
    if hour > DAY_HOURS:
        return match[0]
    sign = match["sign"].lower()
    return f" {_SIGNS.get(sign, sign)} {hour:g} {CLOCK}"


_SIGNS = {
    **dict.fromkeys(("past", "since", "from"), "after"),
    **dict.fromkeys(("till", "until", "by"), "before"),
}
"""Bounds that mean the same of hours."""


def _hour(hour: str, minutes: str | None, half: str | None, part: str | None) -> float:
    """The hour from 0 to 24 that a number means before `am`, `pm`, or beside a part of the day."""
    number = int(hour)
    text = (half or "").lower().replace(".", "").strip()
    words = (part or "").lower()
    # `2 at night` is early in the morning, `10 at night` late in the evening.
    is_late = "afternoon" in words or "evening" in words or ("night" in words and number > HALF_DAY_HOURS // 2)
    if number > HALF_DAY_HOURS and text in ("am", "pm"):
        return number + HALF_DAY_HOURS  # `25 pm` is no time
    if text == "am" or (not text.startswith("p") and "morning" in words):
        number %= HALF_DAY_HOURS
    elif text == "pm" or (not text.startswith("a") and is_late and number < HALF_DAY_HOURS):
        number = number % HALF_DAY_HOURS + HALF_DAY_HOURS
    return number + int(minutes or 0) / MINUTES_PER_HOUR


def parse_times_of_day(reading: QuestionReading) -> None:
    """Parse hours that `reword_times` wrote, and parts of the day."""
    while match := reading.text.find(f"between N=low {CLOCK} and N=high {CLOCK}"):
        low, high = (reading.text.required(match, name).number or 0.0 for name in ("low", "high"))
        if not _add_hours(reading, match, low, high):
            return
    while match := reading.text.find(f"before|after|at=sign N=low {CLOCK}"):
        hour, sign = (
            reading.text.required(match, "low").number or 0.0,
            reading.text.required(match, "sign").text,
        )
        # `at 6 pm` is the hour that begins then.
        low, high = {"before": (0.0, hour), "after": (hour, float(DAY_HOURS))}.get(sign, (hour, hour + 1))
        if not _add_hours(reading, match, low, high):
            return
    parts = "|".join(_PARTS)
    # Before single parts of the day: `in the morning` and `in the afternoon` as two conditions leave no row.
    if match := reading.text.find(
        f"in|during|at? the? {parts}=first versus|vs|and|or|than in|during|at? the? {parts}=second"
    ):
        _compare_parts(reading, match)
    while match := reading.text.find(f"in|during|at the? {parts}=part"):
        part = reading.text.required(match, "part")
        # `in the evening` may be a value of a column such as `shift`.
        if part.columns or part.values or not _add_hours(reading, match, *_PARTS[part.word]):
            return
        reading.note(_describe_part(part.word))


def _compare_parts(reading: QuestionReading, match: PhraseMatch) -> None:
    """Make groups of two parts of the day: `in the morning versus the afternoon`."""
    reference = date_reference(reading, match)
    names = [reading.text.required(match, name).word for name in ("first", "second")]
    if reference is None or not _has_hours(reference.column) or names[0] == names[1]:
        return
    hours = [_in_hours(reference, *_PARTS[name]) for name in names]
    add_date(reading, match, build.either(hours), reference)
    branches = [(condition, build.literal(name)) for condition, name in zip(hours, names, strict=True)]
    reading.keys.append(Value(build.case(branches, None), "time of day", "text", reference))
    for name in names:
        reading.note(_describe_part(name))


def _describe_part(name: str) -> str:
    low, high = _PARTS[name]
    return f"{name.capitalize()} is taken for {low}:00 to {high}:00."


def _add_hours(reading: QuestionReading, match: PhraseMatch, low: float, high: float) -> bool:
    """Add the condition that times lie in some hours; `high` itself does not belong to them."""
    reference = date_reference(reading, match)
    # Of several times of a row that the question does not name, any could be the one whose hours are meant.
    if reference is None or not _has_hours(reference.column) or not is_date_told(reading, reference):
        return False
    add_date(reading, match, _in_hours(reference, low, high), reference)
    return True


def _in_hours(reference: Reference, low: float, high: float) -> Expression:
    operand, scale = build.date_part("hour", reference.expression), 1
    if low != int(low) or high != int(high):
        minutes = build.date_part("minute", reference.expression)
        operand = build.arithmetic(
            "+", build.arithmetic("*", operand, build.literal(MINUTES_PER_HOUR)), minutes
        )
        scale = MINUTES_PER_HOUR
    start = build.compare(">=", operand, build.literal(round(low * scale)))
    end = build.compare("<", operand, build.literal(round(high * scale)))
    # The night from 22 to 5 runs over midnight.
    if low > high:
        return build.either([start, end])
    bounds = [*([start] if low > 0 else []), *([end] if high < DAY_HOURS else [])]
    return build.every(bounds or [start])
