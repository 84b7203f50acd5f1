"""Titles of axes from names of columns, with their units."""

import re

from app.modeling.facts.column_units import find_unit

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
MAX_TITLE_CHARS = 60
"""Characters of an axis title, about the width of a chart."""


def axis_title(column: str, unit: str = "") -> str:
    """Write a column's name as a title: `net_price_usd` is "Net price (dollars)". `unit`: one that is known."""
    words = re.split(r"[_\s]+", _CAMEL.sub(" ", column).strip())
    own_unit = find_unit(column)
    if own_unit is not None and len(words) > 1 and not column.rstrip().endswith((")", "]")):
        words.pop()
    text = " ".join(words)
    text = text[:1].upper() + text[1:]
    text = text if len(text) <= MAX_TITLE_CHARS else text[: MAX_TITLE_CHARS - 1] + "…"
    unit = unit or (own_unit.text if own_unit else "")
    return f"{text} ({unit})" if unit and unit.casefold() not in text.casefold() and "(" not in text else text
