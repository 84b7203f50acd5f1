"""Rewording of ranges of numbers that signs tell: `25-39` and `60+`."""

import re

MIN_YEAR, MAX_YEAR = 1900, 2100
"""Numbers that are years behind a month: `05-2023`."""
MONTHS_OF_YEAR = 12
"""The highest number of a month."""
_NUMBER = r"\d{1,7}(?:\.\d{1,4})?"
_SPAN = re.compile(rf"(?<![\w\"'`/+.,-])({_NUMBER}) ?[-\u2013] ?({_NUMBER})(?![\w\"'`/+-]|[.,]\d)")
"""Two numbers with a dash between them, which are no quoted value, date or code."""
_OPEN = re.compile(rf"(?<![\w\"'`/.,-])({_NUMBER}) ?\+(?=$|[,.;:?!)]|\s(?!\s*\d))")
"""A number with a plus behind it, and nothing that is added to it."""


def reword_ranges(question: str) -> str:
    """Write the ranges of numbers in words: `25 to 39`, `60 and over`. Stored values are quoted before."""

    def name(match: re.Match[str]) -> str:
        low, high = float(match[1]), float(match[2])
        # From the higher to the lower number it is a score or a year and a month: `3-1`, `2023-24`.
        is_month = low <= MONTHS_OF_YEAR and MIN_YEAR <= high <= MAX_YEAR
        return match[0] if low >= high or is_month else f"{match[1]} to {match[2]}"

    return _OPEN.sub(r"\1 and over", _SPAN.sub(name, question))
