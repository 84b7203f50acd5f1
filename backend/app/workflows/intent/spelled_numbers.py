"""Numbers, times of day and periods in words: `half past seven`, `every other week`, `the ten largest`."""

import re

_UNITS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9}
_TEENS = {
    **{"ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16},
    **{"seventeen": 17, "eighteen": 18, "nineteen": 19},
}
_TENS = {
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
}
_SIZES = {"hundred": 100, "thousand": 1_000, "dozen": 12}
_ORDINALS = {"other": 2, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6}
_BELOW_TEN = "|".join(_UNITS)
_BELOW_HUNDRED = rf"(?:(?:{'|'.join(_TENS)})(?:[ -](?:{_BELOW_TEN}))?|{'|'.join(_TEENS)}|{_BELOW_TEN})"
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
_MINUTES_OF_HOUR = 60
"""Minutes of an hour."""


def spell_out(text: str) -> str:
    """Write numbers in words as digits where they count something or are a time; quotes and addresses stay."""
    end, parts = 0, list[str]()
    for literal in _LITERAL.finditer(text):
        parts += [_spell_out_words(text[end : literal.start()]), literal[0]]
        end = literal.end()
    return "".join([*parts, _spell_out_words(text[end:])])


def read_number_words(words: str) -> int:
    """Return a number in words or digits below a million. Raises KeyError for other words."""
    total = 0
    for word in words.lower().replace("-", " ").split():
        if word in ("a", "an"):
            total += 1
        elif word in _SIZES:
            total = max(total, 1) * _SIZES[word]
        else:
            total += int(word) if word.isdigit() else {**_UNITS, **_TEENS, **_TENS}[word]
    return total


def _spell_out_words(text: str) -> str:
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
    if hour > 12 or minutes >= _MINUTES_OF_HOUR:
        return match[0]
    if match["side"].lower() == "past":
        return f"{hour}:{minutes:02}"
    return f"{hour - 1 if hour > 1 else 12}:{_MINUTES_OF_HOUR - minutes:02}"
