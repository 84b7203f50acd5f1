"""Spellings of numbers, as patterns that Python, Arrow and DuckDB understand.

The only table of them: uploads and prices derive their SQL from it, so the module imports no science library.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

SIGN = r"[+-]?"
EXPONENT = r"(?:[eE][+-]?\d{1,3})?"
"""At most three digits: float64 ends at 1e308."""
MAX_WHOLE_DIGITS = 18
"""Digits of a whole number: 64 bits hold every number of 18 digits. Longer ones are identifiers, which float64
would round."""

# Gaps are bounded: neighbouring ones share their spaces in every way, and 400 of them took minutes.
NUMBER_PATTERN = (
    r"^(?P<open>\(?)\s{0,3}(?P<sign>[-+]?)\s{0,3}(?P<before>(?:[^\d\s.,'()+\-]{1,4}\.?)?)\s{0,3}(?P<inner>[-+]?)\s{0,3}"
    rf"(?P<body>\d[\d.,' ]*|[.,]\d+)(?P<exponent>{EXPONENT})\s{{0,3}}"
    r"(?P<after>(?:\+|[^\d\s.,'()+\-][^()]{0,14}?)?)\s{0,3}(?P<close>\)?)(?P<trail>-?)$"
)
# A group never begins with 0: `0,123` is a decimal fraction.
_GROUPED_DIGITS = {
    ",": r"[1-9]\d{0,2}(?:,\d{2,3})*,\d{3}",
    ".": r"[1-9]\d{0,2}(?:\.\d{3})+",
    " ": r"[1-9]\d{0,2}(?: \d{3})+",
    "'": r"[1-9]\d{0,2}(?:'\d{3})+",
}


@dataclass(frozen=True)
class NumberFormat:
    """Spelling of numbers. `group`: thousands separator, "" for none. `before`, `after`: units in lower case
    that may precede or follow a number -> their factor; None for any unit, with the factor 1."""

    decimal: str = "."
    group: str = ","
    before: Mapping[str, float] | None = field(default_factory=dict, hash=False)
    after: Mapping[str, float] | None = field(default_factory=dict, hash=False)

    @property
    def unsigned_pattern(self) -> str:
        """Pattern of the digits and separators of a number, to be matched in full."""
        mark = re.escape(self.decimal)
        grouped = f"|{_GROUPED_DIGITS[self.group]}" if self.group else ""
        integer, digits = rf"(?:\d{{1,{MAX_WHOLE_DIGITS}}}{grouped})", rf"(?:\d+{grouped})"
        return rf"(?:{integer}|{digits}{mark}\d*|{mark}\d+)"

    @property
    def body_pattern(self) -> str:
        return f"^{self.unsigned_pattern}$"


def plain_number_pattern(decimal: str) -> str:
    """Pattern of a number without separators, units and leading zeros: `007` is a code."""
    mark, rest = re.escape(decimal), MAX_WHOLE_DIGITS - 1
    return rf"{SIGN}(?:0|[1-9]\d{{0,{rest}}}|(?:0|[1-9]\d*){mark}\d*|{mark}\d+){EXPONENT}"


def grouped_number_pattern(group: str, decimal: str) -> str:
    """Pattern of a number with at least one thousands separator."""
    return rf"{SIGN}{_GROUPED_DIGITS[group]}(?:{re.escape(decimal)}\d+)?"
