"""Numbers of questions in the units in which columns store them: two minutes are 120 of `queueSec`."""

from app.agents.goals.tables.profiles import Column
from app.agents.goals.tables.units import column_unit, convert, find_unit
from app.agents.goals.words.tokenizer import words

PERCENT = frozenset({"%", "percent", "pct"})
_COMMON_UNITS = ("seconds", "minutes", "hours", "days", "g", "kg", "cm", "m", "km")
_STORED_SCALES = {
    "k": 1e3,
    "thousand": 1e3,
    "thousands": 1e3,
    "m": 1e6,
    "mio": 1e6,
    "million": 1e6,
    "bn": 1e9,
    "billion": 1e9,
}
"""Last words of names of columns that hold multiples."""


def stored_number(number: float, unit: str, column: Column) -> int | float:
    """Return a number as a column stores it: half an hour is 30 of `duration_min`."""
    high = column.high
    if unit in PERCENT:
        # A column that never exceeds 1 holds shares, in which 30 percent are 0.3.
        scaled = number / 100 if isinstance(high, int | float) and high <= 1 < number else number
    elif _has_unit(column):
        scaled = convert(number, unit or None, column)
    else:
        scaled = _in_spanned_unit(number, unit, column)
    scaled = _in_stored_scale(scaled, column)
    return int(scaled) if scaled == int(scaled) else scaled


def _in_stored_scale(number: float, column: Column) -> float:
    """Return 13 million as 13,000 of `jobless_k`, where such values are stored: of `height_m` none are."""
    scale = _STORED_SCALES.get(words(column.name)[-1], 1) if words(column.name) else 1
    is_beyond = isinstance(column.high, int | float) and number > column.high
    return number / scale if scale > 1 and is_beyond and column.spans(number / scale) else number


def _in_spanned_unit(number: float, unit: str, column: Column) -> float:
    """A number in the unit that the values of a column span: 3 hours of run times from 78 to 190."""
    own = find_unit(unit)
    if own is None or column.spans(number) or own.dimension not in ("time", "mass", "length"):
        return number
    sizes = {
        other.size for word in _COMMON_UNITS if (other := find_unit(word)) and other.dimension == own.dimension
    }
    fitting = [number * own.size / size for size in sizes if size != own.size]
    fitting = [scaled for scaled in fitting if column.spans(scaled)]
    # Where two units fit, either is a guess: the number stays as it is written.
    return fitting[0] if len(fitting) == 1 else number


def _has_unit(column: Column) -> bool:
    return bool(find_unit(column.unit) or column_unit(column.name) or _unit_of_name(column))


def _unit_of_name(column: Column) -> bool:
    parts = words(column.name)
    return len(parts) == 1 and find_unit(parts[0]) is not None
