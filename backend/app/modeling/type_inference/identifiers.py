"""Recognition of identifiers among plain numbers. It imports no science library: uploads choose types by it."""

import re
from collections.abc import Sequence
from itertools import pairwise

MIN_CODE_DIGITS = 9
"""Digits of one common length from which whole numbers are codes: amounts of this size differ in length."""
MIN_CODES = 5
"""Distinct values that have the common length: fewer may have it by chance."""
MIN_CODE_NAME_DIGITS = 6
"""The same under the name of a code. Shorter ones, such as article numbers, work as numbers too."""
_CODE_NAME = re.compile(
    r"phone|mobile|\btel\b|\bfax\b|iban|barcode|\b(?:ean|gtin|upc|isbn|issn|ssn|vat|siret)\b|konto|account no",
    re.IGNORECASE,
)
_VERSION_NAME = re.compile(
    r"(?:^|[_\W])(?:version|release|ver|firmware|edition|chapter|section|clause|paragraph|kapitel|abschnitt)$",
    re.IGNORECASE,
)
_DIALLED = re.compile(r"\+[1-9]\d{7,14}", re.ASCII)
"""Telephone number in the form of E.164: up to 15 digits, of which no country has fewer than 8."""
_DIALLED_NAME = re.compile(r"telef|handy|celular|whatsapp|contact", re.IGNORECASE)
_TIME_NAME = re.compile(
    r"time|date|epoch|(?:^|[_\W])(?:ts|at|on)$|[a-z](?:At|Ts|On)$|created|updated", re.IGNORECASE
)
_EPOCH_DIGITS = {10, 13, 16}
"""Digits of counts of seconds, milliseconds and microseconds since 1970, today."""


def is_identifier(name: str, values: Sequence[str]) -> bool:
    """Test for numbers that name something: long codes of one length, telephone numbers, and versions such as
    1.1 beside 1.10."""
    values = [value.strip() for value in values]
    if are_dialled(name, values):
        return True
    if "." in values[0] or "." in values[-1]:
        return _VERSION_NAME.search(name) is not None and _has_two_precisions(values)
    min_digits = MIN_CODE_NAME_DIGITS if _CODE_NAME.search(name) else MIN_CODE_DIGITS
    if len(values[0]) < min_digits or len({len(value) for value in values}) > 1 or not values[0].isdigit():
        return False
    # Moments in seconds have one length too, until the year 2286.
    if len(values[0]) in _EPOCH_DIGITS and (_TIME_NAME.search(name) or _rises(values)):
        return False
    return len(set(values)) >= MIN_CODES


def are_dialled(name: str, values: Sequence[str]) -> bool:
    """Test for telephone numbers with the code of a country, whose lengths differ between countries."""
    has_name = _CODE_NAME.search(name) is not None or _DIALLED_NAME.search(name) is not None
    min_values = 1 if has_name else MIN_CODES
    return len(set(values)) >= min_values and all(map(_DIALLED.fullmatch, values))


def _has_two_precisions(values: Sequence[str]) -> bool:
    """Test for a last digit 0 beside fewer digits: a number is written with or without trailing zeros."""
    decimals = {len(value.partition(".")[2]) for value in values}
    return len(decimals) > 1 and any(value.endswith("0") and "." in value for value in values)


def _rises(values: Sequence[str]) -> bool:
    """Test for values that rise with the rows, as moments do in logs."""
    return sum(later >= earlier for earlier, later in pairwise(values)) >= 0.98 * (len(values) - 1)
