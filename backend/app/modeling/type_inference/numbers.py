"""Parsing of numbers in common spellings: `1.234,50 EUR`, `(12)`, `12 %`, `3.5 kg`, `1.2e-3`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Gaps are bounded: neighbouring ones share their spaces in every way, and 400 of them took minutes.
NUMBER_PATTERN = (
    r"^(?P<open>\(?)\s{0,3}(?P<sign>[-+]?)\s{0,3}(?P<before>(?:[^\d\s.,'()+\-]{1,4}\.?)?)\s{0,3}(?P<inner>[-+]?)\s{0,3}"
    r"(?P<body>\d[\d.,' ]*|[.,]\d+)(?P<exponent>(?:[eE][+-]?\d{1,3})?)\s{0,3}"
    r"(?P<after>(?:\+|[^\d\s.,'()+\-][^()]{0,14}?)?)\s{0,3}(?P<close>\)?)(?P<trail>-?)$"
)
_DIGIT_PATTERNS = {
    "": r"\d+",
    ",": r"(?:\d+|[1-9]\d{0,2}(?:,\d{2,3})*,\d{3})",
    ".": r"(?:\d+|[1-9]\d{0,2}(?:\.\d{3})+)",
    " ": r"(?:\d+|[1-9]\d{0,2}(?: \d{3})+)",
    "'": r"(?:\d+|[1-9]\d{0,2}(?:'\d{3})+)",
}


@dataclass(frozen=True)
class NumberFormat:
    """Spelling of numbers. `group`: thousands separator, "" for none. `before`, `after`: units in lower case
    that may precede or follow a number -> their factor."""

    decimal: str = "."
    group: str = ","
    before: Mapping[str, float] = field(default_factory=dict, hash=False)
    after: Mapping[str, float] = field(default_factory=dict, hash=False)

    @property
    def body_pattern(self) -> str:
        mark = re.escape(self.decimal)
        return rf"^(?:{_DIGIT_PATTERNS[self.group]}(?:{mark}\d*)?|{mark}\d+)$"


def split_numbers(texts: pa.Array) -> pa.StructArray:
    """Split trimmed texts (rows,) into the groups of NUMBER_PATTERN; null for texts that are no numbers."""
    return pc.extract_regex(texts, pattern=NUMBER_PATTERN)


def parse_numbers(texts: pa.Array, number_format: NumberFormat) -> np.ndarray:
    """Parse texts to float64 (rows,); NaN for a text in another format."""
    parts = split_numbers(texts)
    body = pc.utf8_rtrim(_part(parts, "body"), characters=" ")
    is_match = pc.match_substring_regex(body, pattern=number_format.body_pattern)
    body = pc.if_else(is_match, body, None)
    if number_format.group:
        body = pc.replace_substring(body, pattern=number_format.group, replacement="")
    if number_format.decimal != ".":
        body = pc.replace_substring(body, pattern=number_format.decimal, replacement=".")
    literals = pc.binary_join_element_wise(body, _part(parts, "exponent"), "")
    numbers = np.array(pc.cast(literals, pa.float64()).to_numpy(zero_copy_only=False), dtype="float64")
    numbers *= _scale(_part(parts, "before"), number_format.before) * _scale(
        _part(parts, "after"), number_format.after
    )
    numbers[~np.isfinite(numbers)] = np.nan
    return np.where(_is_negative(parts), -numbers, numbers)


def _part(parts: pa.StructArray, name: str) -> pa.Array:
    """One group of the matches, null for texts that are no numbers."""
    return pc.struct_field(parts, name)


def _is_negative(parts: pa.StructArray) -> np.ndarray:
    """Test for a minus before, inside or after the number, or for parentheses around it (rows,)."""
    signs = [pc.equal(_part(parts, name), "-") for name in ("sign", "inner", "trail")]
    in_parentheses = pc.and_(pc.equal(_part(parts, "open"), "("), pc.equal(_part(parts, "close"), ")"))
    is_negative = in_parentheses
    for sign in signs:
        is_negative = pc.or_(is_negative, sign)
    negative: np.ndarray = pc.fill_null(is_negative, False).to_numpy(zero_copy_only=False)
    return negative


def _scale(affixes: pa.Array, factors: Mapping[str, float]) -> np.ndarray:
    encoded = pc.dictionary_encode(affixes)
    names = [affix.casefold().strip() for affix in encoded.dictionary.to_pylist()]
    scales = np.array([1.0 if not name else factors.get(name, np.nan) for name in names] + [np.nan])
    positions = pc.fill_null(encoded.indices, len(names)).to_numpy(zero_copy_only=False)
    row_scales: np.ndarray = scales[positions]
    return row_scales
