"""Words behind numbers with two meanings: `CR` is a credit or crores, `b` billions or a break in a series."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log10
from statistics import median

from app.modeling.type_inference.units import CURRENCIES, MAGNITUDES, PERCENT_WORDS

DEBIT_WORDS = frozenset({"dr", "dr."})
CREDIT_WORDS = frozenset({"cr", "cr."})
MIN_BARE_SHARE = 0.1
"""Share of numbers without a percent sign that show fractions: fewer are percents whose sign was forgotten."""
_SERIES_FLAGS = frozenset({"b"})
"""Letters of statistics offices that are magnitudes too: `b` is a break in a series, at Eurostat and OECD."""
_CRORE_CURRENCIES = frozenset(
    {"", "₹", "inr", "rs", "rs.", "rupees", "re.", "₨", "pkr", "bdt", "৳", "tk", "tk.", "lkr"}
)
"""Currencies whose amounts are told in crores; and none, for a column that names no currency."""


@dataclass(frozen=True)
class MarkMeaning:
    """Factors of the words behind the numbers, and the decision between their meanings as a clause."""

    factors: dict[str, float]
    text: str


def resolve_marks(bodies: Mapping[str, Sequence[str]], currency: str) -> MarkMeaning | None:
    """Decide what words with two meanings mean; None for a column with other words behind its numbers.

    `bodies`: word ("" for none) -> the digits and separators that it stands behind. `currency`: the word before
    the numbers.
    """
    words = {word for word in bodies if word}
    if words and words <= DEBIT_WORDS | CREDIT_WORDS:
        return _resolve_sides(bodies, currency)
    if len(words) == 1 and words <= _SERIES_FLAGS:
        return _resolve_flag(words.pop(), bodies)
    if words and words <= PERCENT_WORDS:
        return _resolve_percent(bodies)
    return None


def _resolve_percent(bodies: Mapping[str, Sequence[str]]) -> MarkMeaning | None:
    """Take percents for hundredths beside bare fractions, as `12%` beside `0.12`; else they are the unit."""
    bare = [_fraction(body) for body in bodies.get("", ())]
    percents = [_fraction(body) for word, own_bodies in bodies.items() if word for body in own_bodies]
    if len(bare) < MIN_BARE_SHARE * (len(bare) + len(percents)) or max(percents) <= 1:
        return None
    if max(bare) > 1 or all(number in (0, 1) for number in bare):
        return None
    factors = {word: 0.01 for word in bodies if word}
    return MarkMeaning(factors, "percents are hundredths, since the numbers without a sign are fractions of 1")


def _fraction(body: str) -> float:
    """The size of a number; its last mark is that of decimals, which thousands do not need to be told from."""
    integer, _, decimals = re.sub(r"[ ']", "", body).replace(",", ".").rpartition(".")
    return (
        float(f"{integer.replace('.', '')}.{decimals}")
        if integer or "." in body or "," in body
        else float(decimals)
    )


def _resolve_sides(bodies: Mapping[str, Sequence[str]], currency: str) -> MarkMeaning:
    """Decide on marks of debit and credit; a credit alone may be crores."""
    words = set(bodies) - {""}
    if words & DEBIT_WORDS:
        return _sides(-1.0, "" if words & CREDIT_WORDS else "debits ('dr') are negative")
    bare = bodies.get("", ())
    if not bare and currency in _CRORE_CURRENCIES:
        return _crores()
    marked = [body for word in words for body in bodies[word]]
    if bare and not _has_size_of(marked, bare, MAGNITUDES["cr"]):
        return _crores()
    # Among bare amounts that are debits, as those of a card statement, a credit has the other sign.
    return (
        _sides(1.0, "credits ('cr') are negative beside amounts without a mark") if bare else _sides(-1.0, "")
    )


def _sides(debit: float, text: str) -> MarkMeaning:
    """Factors of both sides, since later rows may have the other one."""
    return MarkMeaning({**dict.fromkeys(DEBIT_WORDS, debit), **dict.fromkeys(CREDIT_WORDS, -debit)}, text)


def _crores() -> MarkMeaning:
    return MarkMeaning(dict.fromkeys(CREDIT_WORDS, MAGNITUDES["cr"]), "'cr' is taken as crores, ten millions")


def _resolve_flag(word: str, bodies: Mapping[str, Sequence[str]]) -> MarkMeaning | None:
    bare = bodies.get("", ())
    if len(bare) <= len(bodies[word]) or not _has_size_of(bodies[word], bare, MAGNITUDES[word]):
        return None
    return MarkMeaning({word: 1.0}, f"{word!r} is taken as a mark of the publisher")


def _has_size_of(marked: Sequence[str], bare: Sequence[str], scale: float) -> bool:
    """Test whether marked numbers are nearer to the bare ones as written than multiplied by the scale."""
    difference = median(map(_integer_digits, marked)) - median(map(_integer_digits, bare))
    return difference > -log10(scale) / 2


def _integer_digits(body: str) -> int:
    """Count the digits before the decimal mark; one mark with three digits behind it separates thousands."""
    parts = re.split(r"[.,' ]", body)
    decimals = len(parts) > 1 and len(parts[-1]) != 3
    return sum(map(len, parts[:-1] if decimals else parts))


def is_accounting_zero(text: str) -> bool:
    """Test for a dash beside a currency, which spreadsheets show for 0. `text`: in lower case, trimmed."""
    word = text.strip("- ")
    return word in CURRENCIES and text.startswith("-") != text.endswith("-")
