"""Is a column of text a column of numbers, and how are they spelled?"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from app.modeling.type_inference import units
from app.modeling.type_inference.numbers import PARTS, NumberFormat

SURE_SHARE = 0.95
"""Of the values that are not missing; the rest becomes missing."""
FEW_WORDS_SHARE = 0.8
MAX_WORDS = 3
"""Fewer numbers will do where all else is a few words that stand again and again."""
CODE_DIGITS = 9
"""Plain digits, all of this length or longer and all of one length, are a code."""

CODE_NAME = re.compile(
    r"zip|postal|postcode|\bplz\b|phone|mobile|\btel\b|\bfax\b|iban|account|barcode|\bean\b|\bisbn\b|\bsku\b|\bssn\b"
    r"|(^|[_\W])(id|code|nr|no)$|[a-z](Id|ID|Code)$",
    re.IGNORECASE,
)
FIRST_LOOK = 60
"""Different values that show whether a closer look is worth it."""

_FORMATS = tuple(
    NumberFormat(decimal, group)
    for decimal, group in ((".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"))
)
_PARTS = re.compile(PARTS)
_BODIES = {one: re.compile(one.body) for one in _FORMATS}


@dataclass(frozen=True)
class NumberGuess:
    """`share` of the values are numbers `spelled` so; `sure` when the marks cannot mean something else.

    `words`: the values that are no numbers, where they are few. `unit`: what stands beside the numbers.
    """

    spelled: NumberFormat
    share: float
    sure: bool
    unit: str
    words: tuple[str, ...]


class _Written(NamedTuple):
    text: str
    times: int
    before: str
    body: str
    exponent: str
    after: str


def guess_numbers(name: str, values: Mapping[str, int]) -> NumberGuess | None:
    """From the different values (trimmed text -> how often) of a column, words for missing left out.

    None for text, and for codes: leading zeros, phone numbers, versions, ordinals, ranges.
    """
    first = list(islice(values, FIRST_LOOK))
    if sum(_PARTS.match(text) is not None for text in first) < min(0.6 * len(first), len(first) - MAX_WORDS):
        return None
    total = sum(values.values())
    written = [one for text, count in values.items() if (one := _take_apart(text, count))]
    if _count(written) < FEW_WORDS_SHARE * total:
        return None
    before, after = (
        units.before(_affixes(written, "before")),
        units.after(_affixes(written, "after"), _spaced(written)),
    )
    if before is None or after is None:
        return None
    spelled, sure = _best_format(written)
    written = [one for one in written if _keeps(one, spelled, before[0], after[0])]
    if len({one.body for one in written}) < (3 if after[0] else 2) or _is_code(name, written):
        return None
    share, read = _count(written) / total, {one.text for one in written}
    words = tuple(text for text in values if text not in read)
    if share < SURE_SHARE and not (share >= FEW_WORDS_SHARE and _are_words(words)):
        return None
    if not sure and "." in (spelled.group, spelled.decimal) and after[1] in ("€", "eur"):
        spelled = replace(spelled, decimal=",", group=".")
    spelled = replace(spelled, before=before[0], after=after[0])
    return NumberGuess(spelled, share, sure, after[1] or before[1], words if len(words) <= 10 else ())


def _take_apart(text: str, count: int) -> _Written | None:
    found = _PARTS.match(text)
    if found is None or (found["open"] == "(") != (found["close"] == ")"):
        return None
    body, exponent = found["body"].rstrip(), found["exponent"]
    return _Written(text, count, found["before"].casefold(), body, exponent, found["after"].casefold().strip())


def _count(written: Sequence[_Written]) -> int:
    return sum(one.times for one in written)


def _affixes(written: Sequence[_Written], side: str) -> Counter[str]:
    """What stands on one side, without what is too rare to be more than a slip."""
    counts: Counter[str] = Counter()
    for one in written:
        counts[getattr(one, side)] += one.times
    rare = 0.01 * counts.total()
    return Counter({affix: count for affix, count in counts.items() if count >= rare})


def _spaced(written: Sequence[_Written]) -> bool:
    """Does a space stand before what follows the numbers?"""
    followed = [one.text for one in written if one.after]
    return sum(re.search(r"\d [^\d\s]", text) is not None for text in followed) > len(followed) / 2


def _keeps(one: _Written, form: NumberFormat, before: Mapping[str, float], after: Mapping[str, float]) -> bool:
    beside = (not one.before or one.before in before) and (not one.after or one.after in after)
    return beside and _BODIES[form].match(one.body) is not None


def _are_words(words: Sequence[str]) -> bool:
    return len(words) <= MAX_WORDS and not any(re.search(r"\d", word) for word in words)


def _best_format(written: Sequence[_Written]) -> tuple[NumberFormat, bool]:
    """The format that most bodies keep, and whether no other could give the same text another meaning."""
    weights = [sum(one.times for one in written if _BODIES[form].match(one.body)) for form in _FORMATS]
    best = _FORMATS[weights.index(max(weights))]
    marked = [one.body for one in written if _BODIES[best].match(one.body) and re.search(r"[.,]", one.body)]
    other = _BODIES.get(NumberFormat(best.group, best.decimal)) if best.group in ",." else None
    return best, not marked or other is None or not all(other.match(body) for body in marked)


def _is_code(name: str, written: Sequence[_Written]) -> bool:
    """Digits that name something: with leading zeros, or all of one length where none would be by chance."""
    bare = [one for one in written if not (one.before or one.after or one.exponent)]
    if len(bare) < 0.9 * len(written) or any("," in one.body for one in bare):
        return False
    if sum(one.times for one in bare if re.match(r"0\d", one.body)) >= 0.01 * _count(bare):
        return True
    lengths = {sum(map(str.isdigit, one.body)) for one in bare}
    if len(lengths) > 1 or any(re.fullmatch(r"\d+\.\d+", one.body) for one in bare):
        return False
    grouped = all(re.search(r"[ .']", one.body) for one in bare)
    shortest = 4 if CODE_NAME.search(name) else CODE_DIGITS - 3 * grouped
    return lengths.pop() >= shortest and len(bare) >= 5
