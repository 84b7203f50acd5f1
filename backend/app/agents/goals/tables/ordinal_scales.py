"""Order of texts that are steps of a scale: `low` to `high`, `never` to `always`, sizes, `10-14`, `65+`."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from app.agents.goals.tables.profiles import Column

MIN_STEPS, MAX_STEPS = 2, 20
"""Steps from which values have an order, and up to which: more numbered texts are names rather than a scale,
and a plan sorts by so many branches at most."""
_NUMBERED = re.compile(
    r"(?P<below><|<=|under |below |less than |up to )?(?P<prefix>[^\W\d][^\d]{0,20}?)?\s?"
    r"(?P<number>\d+(?:[.,]\d+)?)(?P<above>\+| ?and over| ?or more| ?and older)?"
    r"(?:\s?(?:-|to|\u2013)\s?\d+(?:[.,]\d+)?)?[^\d]{0,12}"
)
"""Texts that begin with a number, perhaps behind a word that all of them share: `10-14`, `65+`, `Grade 7`."""


@cache
def _read_scales() -> tuple[dict[str, int], ...]:
    """Return the place of each word in each scale."""
    lines = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()
    return tuple(
        {word: place for place, step in enumerate(line.split(", ")) for word in step.split("|")}
        for line in lines
        if not line.startswith("#")
    )


def order_steps(values: Sequence[str]) -> list[str] | None:
    """Return texts from the lowest step of their scale to the highest; None if they make no scale.

    Each must be a step of one scale, and none may have the place of another.
    """
    if not MIN_STEPS <= len(values) <= MAX_STEPS:
        return None
    spelled = {value: _spell(value) for value in values}
    for places in _read_scales():
        if all(text in places for text in spelled.values()):
            ranks = {value: places[text] for value, text in spelled.items()}
            if len({*ranks.values()}) == len(values):
                return sorted(values, key=lambda value: ranks[value])
    return _order_numbered(values)


def ordered_values(column: Column) -> list[str] | None:
    """Return the values of a text column in the order of their scale; None where it has none, or not all are
    known."""
    texts = [value for value in column.values if isinstance(value, str)]
    is_known = column.type == "text" and len(texts) == len(column.values) == column.distinct
    return order_steps(texts) if is_known else None


def _spell(value: str) -> str:
    """Return a value as scales spell it: `Very_Good` is `very good`, and `1 - low` is `low`."""
    text = re.sub(r"[_\s]+", " ", value.strip().casefold())
    return re.sub(r"^\d{1,2}\s?[-.:)]\s?", "", text)


def _order_numbered(values: Sequence[str]) -> list[str] | None:
    matches = {value: _NUMBERED.fullmatch(value.strip().casefold()) for value in values}
    ranks = {}
    for value, match in matches.items():
        if match is None:
            return None
        number = float(match["number"].replace(",", "."))
        ranks[value] = (number, 1 if match["above"] else -1 if match["below"] else 0)
    prefixes = {(match["prefix"] or "").strip() for match in matches.values() if match and not match["below"]}
    if len(prefixes) > 1 or len({*ranks.values()}) < len(values):
        return None
    return sorted(values, key=lambda value: ranks[value])
