"""Inference of numeric columns in text: separators, units and missing-value words."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from app.modeling.type_inference import units
from app.modeling.type_inference.account_marks import (
    CREDIT_WORDS,
    DEBIT_WORDS,
    is_accounting_zero,
    resolve_marks,
)
from app.modeling.type_inference.compound_numbers import list_units, parse_spelled
from app.modeling.type_inference.identifiers import are_dialled, is_identifier
from app.modeling.type_inference.number_spellings import (
    BODY_END,
    MIXED_FORMATS,
    NUMBER_PATTERN,
    NumberFormat,
)
from app.modeling.type_inference.vocabulary import ZERO_WORDS

SURE_SHARE = 0.95
"""Share of the present values that must be numbers; the rest becomes missing."""
FEW_WORDS_SHARE = 0.8
MAX_WORDS = 3
"""With at most MAX_WORDS distinct other words, this smaller share of numbers is enough."""
CODE_DIGITS = 9
"""Plain digits of one common length, at least this long, are a code and no number."""
_AMOUNT = re.compile(r"\d+\.\d+|\d{1,3}(?: \d{3})+\.\d+|\d{1,3}(?:'\d{3})+(?:\.\d+)?", re.ASCII)
"""Digits that are no code, although all have one length: those with decimals, or with groups of Switzerland."""

CODE_NAME = re.compile(
    r"zip|postal|postcode|\bplz\b|phone|mobile|\btel\b|\bfax\b|iban|account|barcode|\bean\b|\bisbn\b|\bsku\b|\bssn\b"
    r"|(^|[_\W])(id|code|nr|no)$|[a-z](Id|ID|Code)$",
    re.IGNORECASE,
)
MAX_PROBED_VALUES = 60
"""Distinct values that are matched first, to rule out most columns early."""

MIN_SPELLED_VALUES = 3
"""Distinct values of a column of quantities in several parts: fewer may be names."""
_SPELLED = re.compile(r"\d|[½¼¾⅓⅔⅛⅜⅝⅞]")

_FORMATS = tuple(
    NumberFormat(decimal, group)
    for decimal, group in ((".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"))
)
# As Arrow reads them: digits of other scripts are no digits.
_PARTS = re.compile(NUMBER_PATTERN, re.ASCII)
_BODIES = {number_format: re.compile(number_format.body_pattern, re.ASCII) for number_format in _FORMATS}


_BODIES |= {
    number_format: re.compile(number_format.body_pattern, re.ASCII)
    for number_formats in MIXED_FORMATS.values()
    for number_format in number_formats
}


@dataclass(frozen=True)
class NumberGuess:
    """Inferred format of a numeric column; `share` of the values are numbers in this format.

    `is_certain`: the separators have one meaning only. `unit`: text next to the numbers. `words`: the values
    that are no numbers, if they are few. `meanings`: words (lower case) -> the number that they mean.
    `has_spelled`: some numbers are spelled as in `compound_numbers`.
    """

    number_format: NumberFormat
    share: float
    is_certain: bool
    unit: str
    words: tuple[str, ...]
    meanings: Mapping[str, float] = field(default_factory=dict)
    has_spelled: bool = False
    caveat: str = ""
    """Decision between two meanings of a word behind the numbers, as a clause."""


@dataclass(frozen=True)
class _NumberText:
    """One distinct value, split by `NUMBER_PATTERN`; `count` rows have it."""

    text: str
    count: int
    prefix: str
    body: str
    exponent: str
    suffix: str


def guess_numbers(name: str, values: Mapping[str, int], blank: Collection[str] = ()) -> NumberGuess | None:
    """Infer the number format from counts of distinct values (trimmed text -> count) without missing-value
    words.

    None for text, and for codes: leading zeros, phone numbers, versions, ordinals, ranges. `blank`: its words
    for missing values, some of which may mean 0 among its numbers.
    """
    first = list(islice(values, MAX_PROBED_VALUES))
    if sum(_is_probable(text) for text in first) < min(0.6 * len(first), len(first) - MAX_WORDS):
        return None
    return _guess_formatted(name, values, blank) or _guess_spelled(values)


def _guess_formatted(name: str, values: Mapping[str, int], blank: Collection[str]) -> NumberGuess | None:
    """Infer one number format with its units; None where too few values have it."""
    total = sum(values.values())
    numbers = [number for text, count in values.items() if (number := _split_number(text, count))]
    if _count_rows(numbers) < 0.5 * total or _are_grades(numbers):
        return None
    before = units.resolve_prefixes(_count_affixes(numbers, "prefix"))
    if before is None:
        return None
    meaning = resolve_marks(_bodies_by_suffix(numbers), before[1])
    after = (meaning.factors, "") if meaning else _resolve_suffixes(numbers, has_currency=bool(before[1]))
    if after is None:
        return None
    before, after = _add_rare_affixes(numbers, before, after)
    best_format, is_certain = _best_format(numbers)
    numbers = [number for number in numbers if _matches(number, best_format, before[0], after[0])]
    # With units one more: `5 kg` and `10 kg` may be the names of two products.
    if len({number.body for number in numbers}) < (3 if after[0] else 2) or _is_code(name, numbers):
        return None
    number_texts = {number.text for number in numbers}
    others = {text: count for text, count in values.items() if text not in number_texts}
    meanings = zero_words([*others, *blank], number_traits(numbers))
    spelled = [text for text in others if parse_spelled(text, after[0]) is not None]
    words = tuple(text for text in others if text.casefold() not in meanings and text not in spelled)
    share = 1 - sum(others[text] for text in words) / total
    if share < SURE_SHARE and not (share >= FEW_WORDS_SHARE and _are_words(words)):
        return None
    # Behind the amount, the euro is written in countries with a decimal comma.
    if not is_certain and "." in (best_format.group, best_format.decimal) and after[1] in ("€", "eur"):
        best_format = replace(best_format, decimal=",", group=".")
    best_format = replace(best_format, before=before[0], after=after[0])
    # Beside `7.25-` the plus of `9.00+` is its sign.
    is_sign = after[1] == "+" and any(number.text.endswith("-") for number in numbers)
    unit = "" if is_sign or after[1] in units.MAGNITUDES else after[1]
    return NumberGuess(
        best_format,
        share,
        is_certain,
        unit or before[1],
        words if len(words) <= 10 else (),
        meanings,
        has_spelled=bool(spelled),
        caveat=meaning.text if meaning else "",
    )


def _are_grades(numbers: Sequence[_NumberText]) -> bool:
    """Test for grades such as `2-`, `2` and `2+`: the marks behind them are no signs."""
    marks = {number.text[-1] for number in numbers}
    return {"+", "-"} <= marks and all(re.fullmatch(r"\d{1,2}[+-]?", number.text) for number in numbers)


def _resolve_suffixes(numbers: Sequence[_NumberText], *, has_currency: bool) -> units.Factors | None:
    return units.resolve_suffixes(
        _count_affixes(numbers, "suffix"), _has_spaced_suffix(numbers), has_currency=has_currency
    )


def _bodies_by_suffix(numbers: Sequence[_NumberText]) -> dict[str, list[str]]:
    """Suffix -> the bodies before it; rare ones are typing errors, but a rare debit is none."""
    common = _count_affixes(numbers, "suffix")
    bodies: dict[str, list[str]] = {}
    for number in numbers:
        if number.suffix in common or number.suffix in DEBIT_WORDS | CREDIT_WORDS:
            bodies.setdefault(number.suffix, []).append(number.body)
    return bodies


def _is_probable(text: str) -> bool:
    return _PARTS.match(text) is not None or bool(_SPELLED.match(text)) or is_accounting_zero(text.casefold())


def _guess_spelled(values: Mapping[str, int]) -> NumberGuess | None:
    """Infer numbers of several parts: feet and inches, fractions, a quantity in two units."""
    words = Counter(word for text in values for word in list_units(text))
    family = next((family for family in units.UNIT_FAMILIES if words and _largest(words) in family), {})
    # The second unit of a dual quantity is not converted.
    factors = {**family, **({_largest(words): 1.0} if words and not family else {})}
    parsed = {text: number for text in values if (number := parse_spelled(text, factors)) is not None}
    share = sum(values[text] for text in parsed) / sum(values.values())
    are_measures = any(len(list_units(text)) > 1 or "/" in text or not text.isascii() for text in parsed)
    if share < SURE_SHARE or not are_measures or len(set(parsed.values())) < MIN_SPELLED_VALUES:
        return None
    unit = _largest(words) if words else ""
    scale = factors.get(unit, 1.0)
    after = {word: factor / scale for word, factor in factors.items()}
    unparsed = tuple(text for text in values if text not in parsed)
    return NumberGuess(NumberFormat(after=after), share, True, unit, unparsed, has_spelled=True)


def _largest(words: Mapping[str, int]) -> str:
    """The first of the most frequent words: that of the larger unit, which stands first."""
    return max(words, key=lambda word: words[word])


def number_traits(numbers: Sequence[_NumberText]) -> frozenset[str]:
    """Traits of a column's numbers that give a word such as `-` or `none` the meaning 0."""
    traits = {
        # The currency may stand before them.
        "parentheses": any("(" in number.text and number.text.endswith(")") for number in numbers),
        "signs": sum(number.text[0] in "+-" for number in numbers) > 0.5 * len(numbers),
        "counts": all(re.fullmatch(r"\d{1,3}", number.body) for number in numbers),
        "money": any(
            number.prefix in units.CURRENCIES or number.suffix in units.CURRENCIES for number in numbers
        ),
        "quantities": all(number.suffix for number in numbers),
    }
    return frozenset(trait for trait, holds in traits.items() if holds)


def zero_words(texts: Iterable[str], traits: frozenset[str]) -> dict[str, float]:
    """The texts that mean 0 in a column of such numbers (lower case); a dash beside a currency does in all."""
    folded = [text.casefold() for text in texts]
    return {text: 0.0 for text in folded if ZERO_WORDS.get(text) in traits or is_accounting_zero(text)}


def _split_number(text: str, count: int) -> _NumberText | None:
    match = _PARTS.match(text)
    if match is None or (match["open"] == "(" or match["inner"] == "(") != (match["close"] == ")"):
        return None
    body, exponent = match["body"].rstrip(BODY_END), match["exponent"]
    suffix = (match["after"] or match["tail"]).casefold().strip()
    if not units.is_plausible(suffix):
        return None
    return _NumberText(text, count, match["before"].casefold(), body, exponent, suffix)


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
    if not is_unit_known:
        return False
    return any(
        _BODIES[option].match(number.body) for option in (number_format, *MIXED_FORMATS[number_format.decimal])
    )


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
    # `1.234` reads in both formats; one number such as `1.5` or `1.234,5` settles all.
    swapped = _BODIES.get(NumberFormat(best.group, best.decimal)) if best.group in ",." else None
    return best, not separated or swapped is None or not all(swapped.match(body) for body in separated)


def _is_code(name: str, numbers: Sequence[_NumberText]) -> bool:
    """Test for digits that are identifiers: with leading zeros, or all of one length."""
    if _has_letters_before(numbers):
        return True
    unitless = [number for number in numbers if not (number.prefix or number.suffix or number.exponent)]
    if len(unitless) < 0.9 * len(numbers) or any("," in number.body for number in unitless):
        return False
    # A number is not written with a leading zero: 1 % of the rows with one show codes.
    if sum(number.count for number in unitless if re.match(r"0\d", number.body)) >= 0.01 * _count_rows(
        unitless
    ):
        return True
    if is_identifier(name, [number.body for number in unitless]) or are_dialled(
        name, [number.text for number in unitless]
    ):
        return True
    lengths = {sum(map(str.isdigit, number.body)) for number in unitless}
    if len(lengths) > 1 or any(_AMOUNT.fullmatch(number.body) for number in unitless):
        return False
    grouped = all(re.search(r"[ .']", number.body) for number in unitless)
    # Digits in groups of one length look like phone or account numbers sooner.
    min_length = 4 if CODE_NAME.search(name) else CODE_DIGITS - 3 * grouped
    return lengths.pop() >= min_length and len(unitless) >= 5


def _has_letters_before(numbers: Sequence[_NumberText]) -> bool:
    """Test for codes such as `SR004711`: letters, and directly behind them digits of one length."""
    lettered = [number for number in numbers if re.match(r"[A-Za-z]{1,6}\d", number.text)]
    if len(lettered) < 0.9 * len(numbers) or any(number.suffix for number in lettered):
        return False
    lengths = {len(number.body) for number in lettered}
    return len(lengths) == 1 and lengths.pop() >= 4 and all(number.body.isdigit() for number in lettered)
