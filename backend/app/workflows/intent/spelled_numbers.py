"""Numbers, times of day and periods in words: `half past seven`, `every other week`, `the ten largest`."""

import re

from app.number_words import BELOW_TEN, TEENS, TENS, read_number_words

_ORDINALS = {"other": 2, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6}
_BELOW_TEN = "|".join(BELOW_TEN)
_BELOW_HUNDRED = rf"(?:(?:{'|'.join(TENS)})(?:[ -](?:{_BELOW_TEN}))?|{'|'.join(TEENS)}|{_BELOW_TEN})"
_NUMBER = rf"(?:(?:{_BELOW_HUNDRED}|an?) (?:hundred|thousand|dozen)|{_BELOW_HUNDRED})"
_HOUR = rf"(?:{_BELOW_TEN}|ten|eleven|twelve|\d{{1,2}})"
_PERIOD = r"(?:minute|hour|day|week|month)"
_BEFORE = (
    r"(?:use|top|best|bottom|first|last|next|every|limit|only|least|most|than|over|under|above|below|exceeds|to|of|"
    r"between|and|within|after|in|from)"
)
"""Words before a number: a number that stands elsewhere may be a name or a value."""
_BEHIND = (
    r"(?:most|least|highest|lowest|largest|smallest|biggest|greatest|cheapest|dearest|priciest|newest|oldest|"
    r"latest|best|worst|rows?|records?|results?|entries|items|times|retries|minutes?|hours?|days?|weeks?|"
    r"months?|seconds?|percent|euros?|dollars?)"
)
_LITERAL = re.compile(r"\"[^\"]*\"|(?<!\w)'[^']*'(?!\w)|https?://\S*")
_PAST = re.compile(
    rf"\b(?P<part>half|(?:a )?quarter|{_BELOW_HUNDRED}|\d{{1,2}})(?: minutes?)? "
    rf"(?P<side>past) (?P<hour>{_HOUR})\b(?! {_BEHIND})",
    re.IGNORECASE,
)
_BEFORE_HOUR = re.compile(
    rf"(?<=\bat )(?P<part>(?:a )?quarter|{_BELOW_HUNDRED}|\d{{1,2}})(?: minutes?)? "
    rf"(?P<side>to) (?P<hour>{_HOUR})\b(?! {_BEHIND})",
    re.IGNORECASE,
)
"""Only behind `at`: `from five to ten` and `set the quarter to three` are no times."""
_HOUR_MINUTES = re.compile(
    rf"\bat ({_HOUR}) (fifteen|twenty|thirty|forty(?:[ -]five)?|fifty|ten)\b", re.IGNORECASE
)
_MARKED_HOUR = re.compile(rf"\b({_HOUR})(?= ?(?:o'clock|[ap]\.?m\b))", re.IGNORECASE)
_HOUR_ALONE = re.compile(rf"(?<=\bat )({_HOUR})\b(?! {_BEHIND})", re.IGNORECASE)
_EVERY_OTHER = re.compile(rf"\bevery ({'|'.join(_ORDINALS)}) ({_PERIOD})\b", re.IGNORECASE)
_FORTNIGHT = re.compile(r"\b(?:every fortnight|fortnightly|once a fortnight)\b", re.IGNORECASE)
_COUNT_BEFORE = re.compile(rf"\b({_BEFORE} )({_NUMBER})\b(?! (?:of|other)\b)", re.IGNORECASE)
_COUNT_BEHIND = re.compile(rf"\b({_NUMBER})(?= {_BEHIND}\b)", re.IGNORECASE)
_HOURS_OF_CLOCK, _MINUTES_OF_HOUR = 12, 60
"""What a time in words counts to: beyond it the words are no time."""


def spell_out(text: str) -> str:
    """Write numbers in words as digits where they count something or are a time; quotes and addresses stay."""
    end, parts = 0, list[str]()
    # Names and addresses are taken as they stand: `"top ten"` may be the title of a chart.
    for literal in _LITERAL.finditer(text):
        parts += [_spell_out_words(text[end : literal.start()]), literal[0]]
        end = literal.end()
    return "".join([*parts, _spell_out_words(text[end:])])


def _spell_out_words(text: str) -> str:
    # Times come first, since each holds numbers that would be written one by one.
    for pattern in (_PAST, _BEFORE_HOUR):
        text = pattern.sub(_write_time, text)
    text = _HOUR_MINUTES.sub(
        lambda match: f"at {read_number_words(match[1])}:{read_number_words(match[2]):02}", text
    )
    text = _EVERY_OTHER.sub(lambda match: f"every {_ORDINALS[match[1].lower()]} {match[2]}s", text)
    text = _FORTNIGHT.sub("every 2 weeks", text)
    for pattern in (_MARKED_HOUR, _HOUR_ALONE, _COUNT_BEHIND):
        text = pattern.sub(lambda match: str(read_number_words(match[1])), text)
    return _COUNT_BEFORE.sub(lambda match: f"{match[1]}{read_number_words(match[2])}", text)


def _write_time(match: re.Match[str]) -> str:
    """Write `half past seven` and `ten to eight` by the clock; words that are no time stay."""
    part = match["part"].lower()
    minutes = 30 if part == "half" else 15 if part.endswith("quarter") else read_number_words(part)
    hour = read_number_words(match["hour"])
    if hour > _HOURS_OF_CLOCK or minutes >= _MINUTES_OF_HOUR:
        return match[0]
    if match["side"].lower() == "past":
        return f"{hour}:{minutes:02}"
    return f"{hour - 1 if hour > 1 else _HOURS_OF_CLOCK}:{_MINUTES_OF_HOUR - minutes:02}"
