"""Inference of numeric columns in text: separators, units and missing-value words."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from app.modeling.type_inference import units
from app.modeling.type_inference.number_spellings import NUMBER_PATTERN, NumberFormat

SURE_SHARE = 0.95
"""Share of the present values that must be numbers; the rest becomes missing."""
FEW_WORDS_SHARE = 0.8
MAX_WORDS = 3
"""With at most MAX_WORDS distinct other words, this smaller share of numbers is enough."""
CODE_DIGITS = 9
"""Plain digits of one common length, at least this long, are a code and no number."""

CODE_NAME = re.compile(
    r"zip|postal|postcode|\bplz\b|phone|mobile|\btel\b|\bfax\b|iban|account|barcode|\bean\b|\bisbn\b|\bsku\b|\bssn\b"
    r"|(^|[_\W])(id|code|nr|no)$|[a-z](Id|ID|Code)$",
    re.IGNORECASE,
)
MAX_PROBED_VALUES = 60
"""Distinct values that are matched first, to rule out most columns early."""

_FORMATS = tuple(
    NumberFormat(decimal, group)
    for decimal, group in ((".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"))
)
# As Arrow reads them: digits of other scripts are no digits.
_PARTS = re.compile(NUMBER_PATTERN, re.ASCII)
_BODIES = {number_format: re.compile(number_format.body_pattern, re.ASCII) for number_format in _FORMATS}


@dataclass(frozen=True)
class NumberGuess:
    """Inferred format of a numeric column; `share` of the values are numbers in this format.

    `is_certain`: the separators have one meaning only. `unit`: text next to the numbers. `words`: the values
    that are no numbers, if they are few.
    """

    number_format: NumberFormat
    share: float
    is_certain: bool
    unit: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class _NumberText:
    """One distinct value, split by `NUMBER_PATTERN`; `count` rows have it."""

    text: str
    count: int
    prefix: str
    body: str
    exponent: str
    suffix: str


def guess_numbers(name: str, values: Mapping[str, int]) -> NumberGuess | None:
    """Infer the number format from counts of distinct values (trimmed text -> count) without missing-value
    words.

    None for text, and for codes: leading zeros, phone numbers, versions, ordinals, ranges.
    """
    first = list(islice(values, MAX_PROBED_VALUES))
    if sum(_PARTS.match(text) is not None for text in first) < min(0.6 * len(first), len(first) - MAX_WORDS):
        return None
    total = sum(values.values())
    numbers = [number for text, count in values.items() if (number := _split_number(text, count))]
    if _count_rows(numbers) < FEW_WORDS_SHARE * total:
        return None
    before, after = (
        units.resolve_prefixes(_count_affixes(numbers, "prefix")),
        units.resolve_suffixes(_count_affixes(numbers, "suffix"), _has_spaced_suffix(numbers)),
    )
    if before is None or after is None:
        return None
    before, after = _add_rare_affixes(numbers, before, after)
    best_format, is_certain = _best_format(numbers)
    numbers = [number for number in numbers if _matches(number, best_format, before[0], after[0])]
    if len({number.body for number in numbers}) < (3 if after[0] else 2) or _is_code(name, numbers):
        return None
    share, number_texts = _count_rows(numbers) / total, {number.text for number in numbers}
    words = tuple(text for text in values if text not in number_texts)
    if share < SURE_SHARE and not (share >= FEW_WORDS_SHARE and _are_words(words)):
        return None
    if not is_certain and "." in (best_format.group, best_format.decimal) and after[1] in ("€", "eur"):
        best_format = replace(best_format, decimal=",", group=".")
    best_format = replace(best_format, before=before[0], after=after[0])
    return NumberGuess(best_format, share, is_certain, after[1] or before[1], words if len(words) <= 10 else ())


def _split_number(text: str, count: int) -> _NumberText | None:
    match = _PARTS.match(text)
    if match is None or (match["open"] == "(") != (match["close"] == ")"):
        return None
    body, exponent = match["body"].rstrip(), match["exponent"]
    return _NumberText(
        text, count, match["before"].casefold(), body, exponent, match["after"].casefold().strip()
    )


def _count_rows(numbers: Sequence[_NumberText]) -> int:
    return sum(number.count for number in numbers)


def _count_affixes(numbers: Sequence[_NumberText], side: str) -> Counter[str]:
    """Rows by prefix or suffix of the number; affixes of fewer than 1 % of the rows are typing errors, left
    out."""
    counts: Counter[str] = Counter()
    for number in numbers:
        counts[getattr(number, side)] += number.count
    rare = 0.01 * counts.total()
    return Counter({affix: count for affix, count in counts.items() if count >= rare})


Affixes = tuple[dict[str, float], str]
"""Factors of words beside numbers, and the unit that they are converted to."""


def _add_rare_affixes(
    numbers: Sequence[_NumberText], before: Affixes, after: Affixes
) -> tuple[Affixes, Affixes]:
    """Add words of fewer than 1 % of the rows that name the unit of the others: `USD` after `$`."""
    prefixes = {number.prefix for number in numbers} - {"", *before[0]}
    suffixes = {number.suffix for number in numbers} - {"", *after[0]}
    others = [*before[0], *after[0]]
    return (
        ({**before[0], **units.synonyms(prefixes, others)}, before[1]),
        ({**after[0], **units.synonyms(suffixes, others)}, after[1]),
    )


def _has_spaced_suffix(numbers: Sequence[_NumberText]) -> bool:
    """Test whether most suffixes are separated from their number by a space."""
    suffixed = [number.text for number in numbers if number.suffix]
    return sum(re.search(r"\d [^\d\s]", text) is not None for text in suffixed) > len(suffixed) / 2


def _matches(
    number: _NumberText,
    number_format: NumberFormat,
    prefixes: Mapping[str, float],
    suffixes: Mapping[str, float],
) -> bool:
    is_unit_known = (not number.prefix or number.prefix in prefixes) and (
        not number.suffix or number.suffix in suffixes
    )
    return is_unit_known and _BODIES[number_format].match(number.body) is not None


def _are_words(words: Sequence[str]) -> bool:
    return len(words) <= MAX_WORDS and not any(re.search(r"\d", word) for word in words)


def _best_format(numbers: Sequence[_NumberText]) -> tuple[NumberFormat, bool]:
    """The format of most numbers, and whether no other format could give the same texts another meaning."""
    weights = [
        sum(number.count for number in numbers if _BODIES[number_format].match(number.body))
        for number_format in _FORMATS
    ]
    best = _FORMATS[weights.index(max(weights))]
    separated = [
        number.body
        for number in numbers
        if _BODIES[best].match(number.body) and re.search(r"[.,]", number.body)
    ]
    swapped = _BODIES.get(NumberFormat(best.group, best.decimal)) if best.group in ",." else None
    return best, not separated or swapped is None or not all(swapped.match(body) for body in separated)


def _is_code(name: str, numbers: Sequence[_NumberText]) -> bool:
    """Test for digits that are identifiers: with leading zeros, or all of one length."""
    unitless = [number for number in numbers if not (number.prefix or number.suffix or number.exponent)]
    if len(unitless) < 0.9 * len(numbers) or any("," in number.body for number in unitless):
        return False
    if sum(number.count for number in unitless if re.match(r"0\d", number.body)) >= 0.01 * _count_rows(
        unitless
    ):
        return True
    lengths = {sum(map(str.isdigit, number.body)) for number in unitless}
    if len(lengths) > 1 or any(re.fullmatch(r"\d+\.\d+", number.body) for number in unitless):
        return False
    grouped = all(re.search(r"[ .']", number.body) for number in unitless)
    min_length = 4 if CODE_NAME.search(name) else CODE_DIGITS - 3 * grouped
    return lengths.pop() >= min_length and len(unitless) >= 5
