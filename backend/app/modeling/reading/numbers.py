"""Numbers as people write them: `1.234,50 EUR`, `(12)`, `12 %`, `3.5 kg`, `1.2e-3`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Gaps are bounded: neighbouring ones share their spaces in every way, and 400 of them took minutes.
PARTS = (
    r"^(?P<open>\(?)\s{0,3}(?P<sign>[-+]?)\s{0,3}(?P<before>(?:[^\d\s.,'()+\-]{1,4}\.?)?)\s{0,3}(?P<inner>[-+]?)\s{0,3}"
    r"(?P<body>\d[\d.,' ]*|[.,]\d+)(?P<exponent>(?:[eE][+-]?\d{1,3})?)\s{0,3}"
    r"(?P<after>(?:\+|[^\d\s.,'()+\-][^()]{0,14}?)?)\s{0,3}(?P<close>\)?)(?P<trail>-?)$"
)
_BODY = {
    "": r"\d+",
    ",": r"(?:\d+|[1-9]\d{0,2}(?:,\d{2,3})*,\d{3})",
    ".": r"(?:\d+|[1-9]\d{0,2}(?:\.\d{3})+)",
    " ": r"(?:\d+|[1-9]\d{0,2}(?: \d{3})+)",
    "'": r"(?:\d+|[1-9]\d{0,2}(?:'\d{3})+)",
}


@dataclass(frozen=True)
class NumberFormat:
    """`group` sets thousands apart ("" for nothing). `before` and `after`: what may stand beside a number, in
    lower case, and what it multiplies it by."""

    decimal: str = "."
    group: str = ","
    before: Mapping[str, float] = field(default_factory=dict, hash=False)
    after: Mapping[str, float] = field(default_factory=dict, hash=False)

    @property
    def body(self) -> str:
        mark = re.escape(self.decimal)
        return rf"^(?:{_BODY[self.group]}(?:{mark}\d*)?|{mark}\d+)$"


PLAIN = NumberFormat()


def take_apart(texts: pa.Array) -> pa.StructArray:
    """The parts of each trimmed text; null where it is no number in any spelling."""
    return pc.extract_regex(texts, pattern=PARTS)


def read_numbers(texts: pa.Array, spelled: NumberFormat) -> np.ndarray:
    """One float a text, NaN where it is not spelled so."""
    parts = take_apart(texts)
    body = pc.utf8_rtrim(_part(parts, "body"), characters=" ")
    fits = pc.match_substring_regex(body, pattern=spelled.body)
    body = pc.if_else(fits, body, None)
    if spelled.group:
        body = pc.replace_substring(body, pattern=spelled.group, replacement="")
    if spelled.decimal != ".":
        body = pc.replace_substring(body, pattern=spelled.decimal, replacement=".")
    written = pc.binary_join_element_wise(body, _part(parts, "exponent"), "")
    numbers = np.array(pc.cast(written, pa.float64()).to_numpy(zero_copy_only=False), dtype="float64")
    numbers *= _scale(_part(parts, "before"), spelled.before) * _scale(_part(parts, "after"), spelled.after)
    numbers[~np.isfinite(numbers)] = np.nan
    return np.where(_negative(parts), -numbers, numbers)


def _part(parts: pa.StructArray, name: str) -> pa.Array:
    """One part, null where the text is no number."""
    return pc.struct_field(parts, name)


def _negative(parts: pa.StructArray) -> np.ndarray:
    """A minus before, within or after, or parentheses around; parentheses that do not close are no number."""
    signs = [pc.equal(_part(parts, name), "-") for name in ("sign", "inner", "trail")]
    around = pc.and_(pc.equal(_part(parts, "open"), "("), pc.equal(_part(parts, "close"), ")"))
    found = around
    for sign in signs:
        found = pc.or_(found, sign)
    negative: np.ndarray = pc.fill_null(found, False).to_numpy(zero_copy_only=False)
    return negative


def _scale(affixes: pa.Array, known: Mapping[str, float]) -> np.ndarray:
    encoded = pc.dictionary_encode(affixes)
    names = [affix.casefold().strip() for affix in encoded.dictionary.to_pylist()]
    scales = np.array([1.0 if not name else known.get(name, np.nan) for name in names] + [np.nan])
    places = pc.fill_null(encoded.indices, len(names)).to_numpy(zero_copy_only=False)
    scaled: np.ndarray = scales[places]
    return scaled
