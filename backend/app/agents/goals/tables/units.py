"""Units of amounts in goals and in names of columns: "five minutes" is 300 in a column of seconds."""

from collections.abc import Sequence
from typing import NamedTuple

from app.agents.goals.tables.profiles import Column
from app.agents.goals.words.tokenizer import words


class Unit(NamedTuple):
    """A unit by its dimension and its size in the dimension's base unit."""

    dimension: str
    size: float


_UNITS: tuple[tuple[str, str, float], ...] = (
    ("s sec secs second seconds sekunden", "time", 1.0),
    ("min mins minute minutes minuten", "time", 60.0),
    ("h hr hrs hour hours stunden", "time", 3_600.0),
    ("d day days tage", "time", 86_400.0),
    ("week weeks wk wochen", "time", 604_800.0),
    ("month months mo monate", "time", 2_629_746.0),
    ("year years yr yrs jahre", "time", 31_556_952.0),
    ("ms millisecond milliseconds", "time", 0.001),
    ("mg milligram milligrams", "mass", 0.001),
    ("g gram grams gramm", "mass", 1.0),
    ("kg kilo kilos kilogram kilograms", "mass", 1_000.0),
    ("t ton tons tonne tonnes", "mass", 1_000_000.0),
    ("lb lbs pound pounds", "mass", 453.59237),
    ("oz ounce ounces", "mass", 28.349523),
    ("mm millimeter millimeters millimetre millimetres", "length", 0.001),
    ("cm centimeter centimeters centimetre centimetres", "length", 0.01),
    ("m meter meters metre metres", "length", 1.0),
    ("km kilometer kilometers kilometre kilometres", "length", 1_000.0),
    ("mi mile miles", "length", 1_609.344),
    ("ft foot feet", "length", 0.3048),
    ("inch inches", "length", 0.0254),
    ("ml millilitre millilitres milliliter milliliters", "volume", 0.001),
    ("l litre litres liter liters", "volume", 1.0),
    ("m2 sqm", "area", 1.0),
    ("ha hectare hectares", "area", 10_000.0),
    ("ft2 sqft", "area", 0.09290304),
    ("acre acres", "area", 4_046.8564),
    ("km2", "area", 1_000_000.0),
    ("kw kilowatt kilowatts", "power", 1_000.0),
    ("mw megawatt megawatts", "power", 1_000_000.0),
    ("w watt watts", "power", 1.0),
    ("wh", "energy", 1.0),
    ("kwh", "energy", 1_000.0),
    ("mwh", "energy", 1_000_000.0),
    ("cent cents", "money", 0.01),
    ("usd dollar dollars bucks eur euro euros gbp quid", "money", 1.0),
    ("percent pct perc", "share", 0.01),
)
"""Words of units, their dimension and their size in seconds, grams, metres, litres, square metres, watts, watt
hours, whole currency units and shares. Sizes of years and months are the means of the Gregorian calendar; those
of pounds, ounces, miles, feet, inches and acres are exact by the agreement of 1959, rounded for the ounce."""

_UNITS_BY_WORD = {word: Unit(dimension, size) for line, dimension, size in _UNITS for word in line.split()}
_AMBIGUOUS = frozenset({"m", "t", "d", "l", "w", "g", "h", "s"})
"""Letters that are a unit at the end of a column's name only (`weight_g`)."""


_LEADING = frozenset({"seconds", "minutes", "mins", "hours", "hrs", "days", "weeks", "months", "years"})
"""Plurals that are the unit of a column whose name begins with them: `days_open`, `Hours to close`."""
_WEEK = _UNITS_BY_WORD["week"]
DAYS_PER_WEEK = 7
"""Days: columns of durations count them, and no weeks."""


def find_unit(word: str) -> Unit | None:
    """Return the unit that a word of a goal names."""
    return _UNITS_BY_WORD.get(word.casefold())


def column_unit(name: str) -> Unit | None:
    """Return the unit that a column's name ends or begins with, or holds as a word of two letters or more."""
    parts = words(name)
    if "per" in parts:
        parts = parts[: parts.index("per")]  # `price_per_kg` is no mass
    if _ends_with_pace(parts):
        return None  # `Wind (km/h)` is no time
    if len(parts) > 1 and parts[-1] in _UNITS_BY_WORD:
        return _UNITS_BY_WORD[parts[-1]]
    if len(parts) > 1 and parts[0] in _LEADING:
        return _UNITS_BY_WORD[parts[0]]
    return next(
        (_UNITS_BY_WORD[part] for part in parts[1:] if part in _UNITS_BY_WORD and part not in _AMBIGUOUS), None
    )


def _ends_with_pace(parts: Sequence[str]) -> bool:
    """Tell if the words of a name end with an amount by a unit of time: `km h`, `eur hour`."""
    amount, time = (_UNITS_BY_WORD.get(part) for part in parts[-2:]) if len(parts) > 1 else (None, None)
    return amount is not None and time is not None and time.dimension == "time" != amount.dimension


def unit_of(column: Column) -> Unit | None:
    """Return the unit of a column's cells, or else that of its name, which may be nothing but a unit."""
    own = find_unit(column.unit) or column_unit(column.name)
    name = column.name.casefold()
    return own or (None if name in _AMBIGUOUS else find_unit(name))


def convert(value: float, unit: str | None, column: Column) -> float:
    """Convert an amount of a goal to the unit of a column; without units of one dimension it stays as it is."""
    goal_unit = find_unit(unit) if unit else None
    own_unit = unit_of(column)
    if goal_unit is None:
        return value
    if own_unit is None:
        # Durations without a unit are counted in days where people speak of weeks.
        return value * DAYS_PER_WEEK if goal_unit == _WEEK else value
    if goal_unit.dimension != own_unit.dimension:
        return value
    converted = value * goal_unit.size / own_unit.size
    return round(converted, 9)
