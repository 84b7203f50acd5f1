"""Readings of single phrases of a goal about a series: its rhythm, its values, and what its columns measure."""

import re
from collections.abc import Sequence

from app.agents.goals.periods import vocabulary
from app.agents.goals.periods.time_axis import PeriodFrequency
from app.agents.goals.tables.profiles import Column
from app.agents.goals.tables.units import column_unit, find_unit
from app.agents.goals.words.joined_names import column_words
from app.agents.goals.words.stemming import stem, stems
from app.agents.goals.words.vocabulary import COUNT_WORDS

_COUNTS = {**COUNT_WORDS, "other": 2, "second": 2, "fifteen": 15}
_CURRENCIES = {*map(stem, (*vocabulary.CURRENCIES, *vocabulary.CURRENCIES.values()))}
_PARTS_OF_PAYMENTS = vocabulary.PAID | vocabulary.AMOUNTS | _CURRENCIES | {stem("amt")}
"""Stems of names of what was paid for a row as a whole: `paid_usd`, and not `insurer_paid_usd`."""
MIN_VALUE_LETTERS = 2
"""Letters of a value that a goal may name: a single letter is found in any sentence."""


def mentions_value(goal_stems: Sequence[str], value: str) -> bool:
    """Test if a goal names a value: all of its words, one after the other."""
    value_stems = stems(value)
    has_word = any(word.isalpha() and word not in vocabulary.EMPTY_STEMS for word in value_stems)
    if not has_word or len("".join(value_stems)) < MIN_VALUE_LETTERS:
        return False
    starts = range(len(goal_stems) - len(value_stems) + 1)
    return any(list(goal_stems[i : i + len(value_stems)]) == value_stems for i in starts)


def is_quantity(column: Column) -> bool:
    """Test if a column counts things itself, so that "how many" asks for its sum."""
    return column.type == "integer" and not is_level(column)


def is_level(column: Column) -> bool:
    """Test for values that are averaged over a period, such as prices, temperatures and kilowatts."""
    unit = find_unit(column.unit) or column_unit(column.name)
    if unit and unit.dimension == "power":
        return True
    return bool(_name_stems(column) & vocabulary.LEVELS or vocabulary.LEVEL_SIGNS.search(column.name))


def is_share(column: Column) -> bool:
    """Test for percentages, whose sum says nothing, whatever they are a share of (`premium_pct`)."""
    unit = find_unit(column.unit) or column_unit(column.name)
    return bool(unit and unit.dimension == "share")


def is_money(column: Column) -> bool:
    """Test for amounts of money, by the column's unit or name."""
    unit = find_unit(column.unit) or column_unit(column.name)
    is_amount = bool(_name_stems(column) & vocabulary.AMOUNTS) and not is_share(column)
    return bool(unit and unit.dimension == "money") or is_amount


def is_total(column: Column) -> bool:
    """Test for amounts that are the whole of a row, such as a total and not the price of one piece."""
    parts = _name_stems(column)
    if parts & vocabulary.TOTALS:
        return True
    # What somebody else paid is a part: `ins_paid_amt` of a fee.
    return bool(parts & vocabulary.PAID) and parts <= _PARTS_OF_PAYMENTS


def is_unit_price(column: Column) -> bool:
    """Test for amounts of one piece, or a part of the row's amount."""
    parts = _name_stems(column)
    # `units` counts them, and no `unit_price` does.
    is_of_piece = bool(parts & vocabulary.PIECE_STEMS) and is_money(column)
    return not is_total(column) and (is_of_piece or bool(parts & vocabulary.PARTS_OF_AMOUNTS))


def _name_stems(column: Column) -> set[str]:
    return set(map(stem, column_words(column.name)))


def is_distance(text: str, match: re.Match[str]) -> bool:
    """Test if `a month` is a distance and no rhythm: "in a month", "a year out"."""
    if match["article"] is None:
        return False
    return bool(
        vocabulary.DISTANCE_BEFORE.search(text[: match.start()])
        or vocabulary.DISTANCE_AFTER.match(text[match.end() :])
    )


def read_frequency(text: str) -> PeriodFrequency | None:
    """Return the frequency that a text names: `per week`, `monthly`, `hour by hour`, `every two days`."""
    match = next((m for m in vocabulary.EVERY.finditer(text) if not is_distance(text, m)), None)
    if match is None:
        return None
    if match["adverb"]:
        return vocabulary.FREQUENCIES_BY_ADVERB.get(_letters(match["adverb"]))
    if multiple := match["multiple"] or match["width"]:
        return _multiply(multiple.casefold().split()[0], match["of_unit"] or match["wide_unit"])
    return vocabulary.FREQUENCIES_BY_UNIT.get(_unit_name(match["unit"] or match["twice"] or match["counted"]))


def _letters(adverb: str) -> str:
    return "".join(filter(str.isalpha, adverb.casefold()))


def _unit_name(unit: str) -> str:
    name = unit.casefold().replace("-", " ")
    return "half year" if name.startswith("half") else name


def _multiply(multiple: str, unit: str) -> PeriodFrequency | None:
    unit = _unit_name(unit)
    if multiple == "half":
        return vocabulary.HALVES.get(unit)
    if multiple == "quarter":
        return vocabulary.QUARTERS.get(unit)
    count = _COUNTS.get(multiple) or int(multiple)
    frequency = vocabulary.FREQUENCIES_BY_UNIT[unit]
    return PeriodFrequency(frequency.every, frequency.step * count) if count else None
