"""Words of a question with their places, and what in it stands for a value: numbers, dates and their parts."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from app.agents.goals.words.tokenizer import without_accents
from app.number_words import ABOVE_ONE

NodeKind = Literal["value", "number", "date", "month", "weekday"]
MAX_WORDS = 48
"""Words of a question that are read."""
_WORD = re.compile(
    r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d{1,2}(?![\w.]))?|(?<![\w.])\.\d+|[^\W\d_]+|[^\w\s]|_", re.IGNORECASE
)
_MONTH = re.compile(r"0[1-9]|1[0-2]")
_DAY = re.compile(r"\d{1,2}\.\d{2}")
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d{1,2})?")
_SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "mio": 1e6, "bn": 1e9, "billion": 1e9}
_OTHER_NUMBERS = {
    "one": 1, "once": 1, "twice": 2, "thrice": 3, "dozen": 12, "half": 0.5, "zero": 0, "first": 1,
    "second": 2, "third": 3, "fourth": 4, "fifth": 5, "hundred": 100, "thousand": 1000, "million": 1_000_000,
    "quarter": 0.25,
    "noon": 12, "midnight": 0, "single": 1, "couple": 2, "century": 100, "double": 2, "both": 2, "pair": 2,
}  # fmt: skip
FRACTIONS = {"third": 1 / 3, "thirds": 1 / 3, "fifth": 0.2, "fifths": 0.2, "tenth": 0.1, "tenths": 0.1}
"""Words that are ordinal numbers, or parts of one: `the third`, `over a third`."""
_ORDINALS = {"first": 1, "1": 1, "second": 2, "2": 2, "third": 3, "3": 3, "fourth": 4, "4": 4}
_DIVISIONS = {"q": 4, "quarter": 4, "h": 2, "half": 2}
"""Words and letters for a part of a year, and how many it has."""
_MAX_BORROWED = 4
"""Words between a month and the later one whose year it has: `from January up to March 2024`."""
MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MIN_YEAR, _MAX_YEAR = 1500, 2100
"""Numbers of four digits that may be years."""


@dataclass(frozen=True)
class Word:
    """A word, a number or a sign, and the part of the question that it takes."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class TextNode:
    """Something in a question that stands for a value. `first`, `last`: its words, both included.

    A date has its first and last day; other kinds have a number: of a month, of a weekday from 0, or their own.
    """

    kind: NodeKind
    first: int
    last: int
    number: float = 0.0
    start: date | None = None
    end: date | None = None


def split_words(text: str, limit: int = MAX_WORDS) -> list[Word]:
    """Return the first words, numbers and signs of a text."""
    return [
        Word(without_accents(match[0].casefold()), match.start(), match.end()) for match in _WORD.finditer(text)
    ][:limit]


def find_nodes(words: Sequence[Word]) -> list[TextNode]:
    """Return the numbers, dates, months and weekdays of a question; a date leaves its parts in place."""
    return [*_numbers(words), *_months(words), *_weekdays(words), *_dates(words)]


def _numbers(words: Sequence[Word]) -> Iterator[TextNode]:
    scale = -1
    for place, word in enumerate(words):
        value = _number_of(word.text)
        if value is None or place == scale:
            continue
        following = words[place + 1] if place + 1 < len(words) else None
        if following and following.text in _SCALES and word.text[0].isdecimal():
            is_joined, is_letter = following.start == word.end, len(following.text) == 1
            if is_joined or not is_letter:
                yield TextNode("number", place, place + 1, value * _SCALES[following.text])
            if not is_letter:
                scale = place + 1
                continue
            # `500m` may be half a billion and five hundred metres: the decoder points at what is meant.
        # `-3` is a number, the dash of `30-40` is none.
        before = words[place - 1] if place else None
        is_negative = (
            before is not None
            and before.text in ("-", "\u2212")
            and before.end == word.start
            and (place < 2 or words[place - 2].end < before.start)
        )
        yield TextNode("number", place, place, -value if is_negative else value)
        if word.text in FRACTIONS:
            yield TextNode("number", place, place, FRACTIONS[word.text])


def _number_of(text: str) -> float | None:
    if _NUMBER.fullmatch(text):
        return float(text.replace(",", ""))
    if text in ABOVE_ONE:
        return float(ABOVE_ONE[text])
    if text in FRACTIONS:
        return float(_OTHER_NUMBERS.get(text, FRACTIONS[text]))
    return float(_OTHER_NUMBERS[text]) if text in _OTHER_NUMBERS else None


def _month_of(text: str) -> int | None:
    if len(text) < 3:
        return None
    shortened = "sep" if text == "sept" else text
    return next((n for n, name in enumerate(MONTHS, start=1) if shortened in (name, name[:3])), None)


def _months(words: Sequence[Word]) -> Iterator[TextNode]:
    for place, word in enumerate(words):
        if (month := _month_of(word.text)) is not None:
            yield TextNode("month", place, place, month)


def _weekdays(words: Sequence[Word]) -> Iterator[TextNode]:
    for place, word in enumerate(words):
        for number, name in enumerate(WEEKDAYS):
            if word.text in (name, f"{name}s") or (len(word.text) == 3 and word.text == name[:3]):
                yield TextNode("weekday", place, place, number)


def _dates(words: Sequence[Word]) -> Iterator[TextNode]:
    place = 0
    while place < len(words):
        node = (
            _iso_date(words, place)
            or _named_date(words, place)
            or _numbered_period(words, place)
            or _ordinal_period(words, place)
            or _decade(words, place)
            or _year(words, place)
        )
        if node is None:
            if (borrowed := _month_of_later_year(words, place)) is not None:
                yield borrowed
            place += 1
        else:
            yield node
            place = node.last + 1


def _iso_date(words: Sequence[Word], place: int) -> TextNode | None:
    """`2023-05-14`, `14-05-2023`, `14.05.2023` and `2023-05`."""
    return _dashed_day(words, place) or _dotted_day(words, place) or _dashed_month(words, place)


def _dashed_day(words: Sequence[Word], place: int) -> TextNode | None:
    texts = _joined_texts(words, place, 5)
    if len(texts) < 5 or texts[1] != texts[3] or texts[1] not in "-/.":
        return None
    numbers = [text for text in texts[::2] if text.isdecimal()]
    if len(numbers) < 3:
        return None
    if len(numbers[0]) == 4:
        return _day_node(place, place + 4, int(numbers[0]), int(numbers[1]), int(numbers[2]))
    first, second = int(numbers[0]), int(numbers[1])
    day, month = (second, first) if second > 12 else (first, second)
    return _day_node(place, place + 4, int(numbers[2]), month, day) if len(numbers[2]) == 4 else None


def _dotted_day(words: Sequence[Word], place: int) -> TextNode | None:
    """A day whose first two numbers stand as one: `14.05` in `14.05.2023`."""
    texts = _joined_texts(words, place, 3)
    if len(texts) < 3 or texts[1] != "." or not _is_year(texts[2]) or not _DAY.fullmatch(texts[0]):
        return None
    day, month = map(int, texts[0].split("."))
    return _day_node(place, place + 2, int(texts[2]), month, day)


def _dashed_month(words: Sequence[Word], place: int) -> TextNode | None:
    texts = _joined_texts(words, place, 4)
    if len(texts) < 3 or "-" in texts[3:]:  # a day that does not exist is no month
        return None
    if texts[1] != "-" or not _is_year(texts[0]) or not _MONTH.fullmatch(texts[2]):
        return None
    return _month_node(place, place + 2, int(texts[0]), int(texts[2]))


def _joined_texts(words: Sequence[Word], place: int, count: int) -> list[str]:
    """The next words, as far as no blank is between them."""
    texts: list[str] = []
    for word in words[place : place + count]:
        if texts and word.start != words[place + len(texts) - 1].end:
            break
        texts.append(word.text)
    return texts


def _named_date(words: Sequence[Word], place: int) -> TextNode | None:
    """`14 May 2023`, `May 14th, 2023` and `May 2023`."""
    texts = [word.text for word in words[place : place + 6]]
    rest = [(n, text) for n, text in enumerate(texts) if text not in ("of", ",", "st", "nd", "rd", "th", ".")]
    values = [text for _, text in rest]
    if not values:
        return None
    month = _month_of(values[0])
    if month is not None and len(values) > 1:
        if _is_year(values[1]):
            return _month_node(place, place + rest[1][0], int(values[1]), month)
        if len(values) > 2 and values[1].isdecimal() and int(values[1]) <= 31 and _is_year(values[2]):
            return _day_node(place, place + rest[2][0], int(values[2]), month, int(values[1]))
    if values[0].isdecimal() and int(values[0]) <= 31 and len(values) > 2:
        month = _month_of(values[1])
        if month is not None and _is_year(values[2]):
            return _day_node(place, place + rest[2][0], int(values[2]), month, int(values[0]))
    return None


def _numbered_period(words: Sequence[Word], place: int) -> TextNode | None:
    """`Q3 2023`, `2023 Q3`, `H1 2024`."""
    texts = [word.text for word in words[place : place + 4]]
    if len(texts) >= 3 and texts[0] in ("q", "h") and texts[1].isdecimal() and _is_year(texts[2]):
        return _part_node(place, place + 2, texts[0], int(texts[1]), int(texts[2]))
    if len(texts) >= 3 and texts[1] in ("q", "h") and texts[2].isdecimal() and _is_year(texts[0]):
        return _part_node(place, place + 2, texts[1], int(texts[2]), int(texts[0]))
    return None


def _ordinal_period(words: Sequence[Word], place: int) -> TextNode | None:
    """`the third quarter of 2024`, `2nd half of 2023`, `last quarter 2022`."""
    texts = [word.text for word in words[place : place + 5]]
    parts = [(n, text) for n, text in enumerate(texts) if text not in ("of", "in", "st", "nd", "rd", "th")]
    if len(parts) < 3 or parts[1][1] not in ("quarter", "half") or not _is_year(parts[2][1]):
        return None
    division = parts[1][1]
    number = _DIVISIONS[division] if parts[0][1] == "last" else _ORDINALS.get(parts[0][1])
    if number is None or parts[0][0] > 0:
        return None
    return _part_node(place, place + parts[2][0], division, number, int(parts[2][1]))


def _decade(words: Sequence[Word], place: int) -> TextNode | None:
    """`the 1870s`."""
    texts = _joined_texts(words, place, 2)
    if len(texts) < 2 or texts[1] != "s" or not _is_year(texts[0]) or not texts[0].endswith("0"):
        return None
    year = int(texts[0])
    years = 100 if texts[0].endswith("00") else 10
    return TextNode("date", place, place + 1, year, date(year, 1, 1), date(year + years - 1, 12, 31))


def _month_of_later_year(words: Sequence[Word], place: int) -> TextNode | None:
    """The month whose year stands behind a later one, `from January to March 2024`."""
    month = _month_of(words[place].text)
    if month is None:
        return None
    for later in range(place + 1, min(len(words), place + _MAX_BORROWED + 1)):
        node = _named_date(words, later)
        if node is not None and node.start is not None and _month_of(words[later].text) is not None:
            year = node.start.year - (node.start.month < month)
            return _month_node(place, place, year, month)
    return None


def _part_node(first: int, last: int, division: str, number: int, year: int) -> TextNode | None:
    """The quarter or half of a year of this number; None where a year has fewer."""
    count = _DIVISIONS[division]
    if not 1 <= number <= count:
        return None
    months = 12 // count
    begin = months * (number - 1) + 1
    return TextNode("date", first, last, 0.0, date(year, begin, 1), _month_end(year, begin + months - 1))


def _year(words: Sequence[Word], place: int) -> TextNode | None:
    text = words[place].text
    if not _is_year(text):
        return None
    year = int(text)
    return TextNode("date", place, place, year, date(year, 1, 1), date(year, 12, 31))


def _is_year(text: str) -> bool:
    return len(text) == 4 and text.isdecimal() and _MIN_YEAR <= int(text) <= _MAX_YEAR


def _month_node(first: int, last: int, year: int, month: int) -> TextNode:
    return TextNode("date", first, last, 0.0, date(year, month, 1), _month_end(year, month))


def _day_node(first: int, last: int, year: int, month: int, day: int) -> TextNode | None:
    try:
        own = date(year, month, day)
    except ValueError:
        return None
    return TextNode("date", first, last, 0.0, own, own)


def _month_end(year: int, month: int) -> date:
    following = date(year + month // 12, month % 12 + 1, 1)
    return following - timedelta(days=1)
