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

_SUPERSCRIPTS = "\u00b9\u00b2\u00b3\u2070-\u2079"
_DAGGERS = "\u2020\u2021\u00a7"
_FRACTIONS = "\u00bc-\u00be\u2150-\u215f"
_EM_DASH = "\u2014"
BODY_END = f" -{_EM_DASH}"
"""Characters behind the digits of a body: a gap before the unit, and the dashes that stand for no cents."""
# Gaps are bounded: neighbouring ones share their spaces in every way, and 400 of them took minutes.
NUMBER_PATTERN = (
    r"^(?P<open>\(?)\s{0,3}(?P<sign>[-+]?)\s{0,3}(?P<before>(?:[^\d\s.,'()+\-]{1,6}\.?)?)\s{0,3}(?P<inner>[-+(]?)\s{0,3}"
    rf"(?P<body>\d[\d.,' ]*[.,](?:--?|{_EM_DASH})|\d[\d.,' ]*|[.,]\d+)"
    rf"(?P<exponent>{EXPONENT})[{_SUPERSCRIPTS}]{{0,2}}"
    rf"(?P<late>(?:-\s)?)\s{{0,3}}(?P<after>(?:\+|[^\d\s.,:'()+\-*\[{_DAGGERS}{_FRACTIONS}][^():]{{0,14}}?)?)"
    r"\s{0,3}(?P<close>\)?)(?P<tail>(?:\s?%)?)(?P<trail>-?)"
    rf"(?:\s?(?:\[[A-Za-z0-9 ]{{1,6}}\]|[*{_DAGGERS}]{{1,3}}|\([a-z]\)))?$"
)
"""Number with its signs, parentheses and units; footnote marks behind it (`12*`, `12 [1]`) are not kept.

`body`: with dashes for no cents, as in `49.-`, which are no minus. `late`: a minus behind the digits and before
a unit. `tail`: a percent sign behind parentheses.
"""
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


MIXED_FORMATS: dict[str, tuple[NumberFormat, ...]] = {
    ",": (NumberFormat(group=""),),
    ".": (NumberFormat(",", group=""),),
}
"""Decimal mark of a column -> formats of cells with the other mark, where it cannot be a thousands separator:
some exports mix 1234.5 into a column with decimal commas."""


def plain_number_pattern(decimal: str) -> str:
    """Pattern of a number without separators, units and leading zeros: `007` is a code."""
    mark, rest = re.escape(decimal), MAX_WHOLE_DIGITS - 1
    return rf"{SIGN}(?:0|[1-9]\d{{0,{rest}}}|(?:0|[1-9]\d*){mark}\d*|{mark}\d+){EXPONENT}"


def grouped_number_pattern(group: str, decimal: str) -> str:
    """Pattern of a number with at least one thousands separator."""
    return rf"{SIGN}{_GROUPED_DIGITS[group]}(?:{re.escape(decimal)}\d+)?"
