"""Numbers in several parts or in words: `5'10"`, `6 lb 3 oz`, `3 1/2`, `two`, `340 kJ / 81 kcal`."""

import re
from collections.abc import Mapping

NUMBER_WORDS = {
    word: float(number)
    for number, words in enumerate(
        (
            "zero null cero",
            "one eins ein eine uno",
            "two zwei deux dos",
            "three drei trois tres",
            "four vier quatre cuatro",
            "five fünf cinq cinco",
            "six sechs seis",
            "seven sieben sept siete",
            "eight acht huit ocho",
            "nine neun neuf nueve",
            "ten zehn dix diez",
            "eleven elf onze once",
            "twelve zwölf douze doce",
        )
    )
    for word in words.split()
}
_VULGAR = {
    "½": 1 / 2,
    "¼": 1 / 4,
    "¾": 3 / 4,
    "⅓": 1 / 3,
    "⅔": 2 / 3,
    "⅛": 1 / 8,
    "⅜": 3 / 8,
    "⅝": 5 / 8,
    "⅞": 7 / 8,
}
_FRACTION = re.compile(
    r"(?P<sign>-?)(?:(?P<whole>\d{1,6})[ -]?)?"
    r"(?:(?P<top>\d{1,2})/(?P<bottom>2|3|4|5|6|8|10|16|32|64)|(?P<vulgar>[½¼¾⅓⅔⅛⅜⅝⅞]))"
    r" ?(?P<unit>[^\d\s]{0,8})"
)
_PLAIN = re.compile(r"-?\d{1,9}(?:\.\d{1,6})?")
_PART = re.compile(r"(?P<number>\d{1,9}(?:[.,]\d{1,6})?) ?(?P<unit>[^\d\s.,;()]{1,10})\.?,? ?")
_SECOND = re.compile(r" ?(?:/|\||=|\() ?(?:ca\. ?|approx\. ?)?\d[^()]{0,30}\)?$")
"""The same quantity in another unit behind the first."""
_INCHES = re.compile(r"(?P<feet>\d{1,3}) ?(?:'|ft\.?|feet) ?(?P<inches>\d{1,2}(?:\.\d{1,3})?)")
"""Feet and inches without a mark behind the inches."""
MAX_CHARS = 40
"""Characters of a spelled number: longer texts are sentences."""


def parse_spelled(text: str, units: Mapping[str, float]) -> float | None:
    """Parse one trimmed text; None for another text. `units`: word in lower case -> factor."""
    folded = text.casefold()
    if len(folded) > MAX_CHARS:
        return None
    if folded in NUMBER_WORDS:
        return NUMBER_WORDS[folded]
    if _PLAIN.fullmatch(folded):
        return float(folded)
    return (
        _parse_fraction(folded, units) if "/" in folded or not folded.isascii() else _parse_parts(folded, units)
    )


def _parse_fraction(text: str, units: Mapping[str, float]) -> float | None:
    match = _FRACTION.fullmatch(text)
    if match is None or (match["unit"] and match["unit"] not in units):
        return _parse_parts(text, units)
    if match["vulgar"]:
        part = _VULGAR[match["vulgar"]]
    # `5/3` is rather a date or a score than a fraction.
    elif int(match["top"]) < int(match["bottom"]):
        part = int(match["top"]) / int(match["bottom"])
    else:
        return None
    number = (int(match["whole"] or 0) + part) * units.get(match["unit"], 1.0)
    return -number if match["sign"] else number


def _parse_parts(text: str, units: Mapping[str, float]) -> float | None:
    """Sum quantities such as `5 ft 10 in`; a second spelling of the same quantity is left out."""
    first = _SECOND.sub("", text)
    if match := _INCHES.fullmatch(first):
        first = f"{match['feet']} ft {match['inches']} in"
    parts, end = [], 0
    while match := _PART.match(first, end):
        parts.append((match["number"].replace(",", "."), match["unit"].rstrip(".")))
        end = match.end()
    if end < len(first) or not parts or any(unit not in units for _, unit in parts):
        return None
    # Each part is less than one unit of the part before: `5 kg 5 kg` is no quantity.
    factors = [units[unit] for _, unit in parts]
    amounts = [float(number) * factor for (number, _), factor in zip(parts, factors, strict=True)]
    if any(amount >= larger for larger, amount in zip(factors, amounts[1:], strict=False)):
        return None
    return sum(amounts)


def list_units(text: str) -> list[str]:
    """The words of the parts of a text such as `5 ft 10 in`; empty for a text in another form."""
    first = _SECOND.sub("", text.casefold())
    if len(text) > MAX_CHARS:
        return []
    if match := _INCHES.fullmatch(first):
        return ["ft", "in"]
    words, end = [], 0
    while match := _PART.match(first, end):
        words.append(match["unit"].rstrip("."))
        end = match.end()
    return words if end == len(first) else []
