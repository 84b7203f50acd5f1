"""The schedule of a sentence, and the sentence without it."""

import re
from typing import Any, NamedTuple

from app.workflows.phrases.schedule_phrases import read_schedule

_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_PART = r"(?:morning|noon|afternoon|evening|night)s?"
_UNIT = (
    r"(?:single )?(?:\d{1,4} )?(?:minute|hour|day|week|weekday|workday|business day|weekend|month|"
    rf"quarter|midnight|{_PART})s?"
)
_DAYS = rf"{_DAY}(?:(?:, | and |, and | or ){_DAY})*(?: {_PART})?"
_MONTHS = (
    r"(?:(?:every|each|once an?|once per) (?:\d{1,4} )?(?:month|quarter)s?|monthly|quarterly)"
    r"(?: on (?:the )?(?:first|\d{1,2}(?:st|nd|rd|th)?)(?: day)?(?![\w/]))?"
)
_RECURS = (
    rf"(?:{_MONTHS}|(?:on |at |in )?(?:every|each) (?:{_DAYS}|{_UNIT})|"
    rf"on (?:{_DAYS}|weekdays|weekends|workdays)|"
    r"on the (?:first|\d{1,2}(?:st|nd|rd|th)?) (?:day )?of (?:each|every|the) month|"
    r"(?:once|twice) (?:an?|per|each|every) (?:day|week|month|quarter|hour)|"
    r"weekends|hourly|daily|nightly|weekly)"
)
_CLOCK = (
    r"(?:at (?:noon|midnight|\d{1,2}(?::\d\d)?(?: ?[ap]\.?m\b\.?)?(?: o'clock)?)(?![\w%])|"
    r"(?<![A-Za-z])(?:in )?(?<![A-Za-z])[A-Z][a-z]{1,20}/[A-Z][A-Za-z_]{1,30}|UTC)"
)
_PIECE = re.compile(
    rf"(?<![\w-])(?:{_CLOCK},? )?{_RECURS}(?![\w-])(?:,? {_CLOCK})*(?! (?:of|in|by|per)\b)", re.IGNORECASE
)
_CLOCK_ALONE = re.compile(
    rf"^{_CLOCK}(?=[ ,:])|(?<=\brun it ){_CLOCK}|(?<=\bdo it ){_CLOCK}|(?<=\bdo this ){_CLOCK}"
)
_ADVERB = re.compile(r"(?:hourly|daily|nightly|weekly|monthly|quarterly)", re.IGNORECASE)
_QUOTED = re.compile(r"\"[^\"]{0,200}\"|'[^']{0,200}'|https?://\S+")


class ScheduledWords(NamedTuple):
    """The words of a sentence without its schedule, and the trigger that this is; None without one.

    `schedule`: the words of the schedule.
    """

    words: str
    trigger: dict[str, Any] | None
    schedule: str = ""


def split_schedule(words: str, zone: str) -> ScheduledWords:
    """Take the words of a schedule out of a sentence.

    A sentence with several schedules keeps all but the first, which no clause understands.
    """
    # Quotations are hidden at equal length, so that places in both texts agree.
    hidden = _QUOTED.sub(lambda match: "\0" * len(match[0]), words)
    for match in [*_PIECE.finditer(hidden), *_CLOCK_ALONE.finditer(hidden)]:
        if _ADVERB.fullmatch(match[0]) and re.match(r" (?!at\b|and\b|on\b|then\b)\w", hidden[match.end() :]):
            continue  # "daily rates" are no schedule
        trigger = read_schedule(match[0], zone)
        if trigger is not None:
            before, behind = words[: match.start()].rstrip(), words[match.end() :].lstrip(" ,:")
            is_first = not before
            joined = behind if is_first else f"{before} {behind}" if behind else before
            return ScheduledWords(
                joined.replace(" ,", ",").replace(" ;", ";").strip(" ,;:"), trigger, words[slice(*match.span())]
            )
    return ScheduledWords(words, None)
