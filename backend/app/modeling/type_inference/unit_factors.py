"""Factors from the unit of a column in one file to that of the column in another."""

from collections.abc import Mapping, Sequence

from app.errors import InvalidInput
from app.modeling.type_inference.parsers import ColumnParser, NumberParser
from app.modeling.type_inference.units import CURRENCY_CODES, UNIT_FAMILIES


def find_factors(parsers: Mapping[str, ColumnParser], units: Mapping[str, str]) -> dict[str, float]:
    """Find what columns are multiplied by to be in the units of `parsers`; columns in these are left out.

    `units`: the unit of each column where it has one, as `ColumnReading.unit`. Raises InvalidInput `other_unit`
    for a unit of the same kind of quantity that is not converted, such as another currency.
    """
    factors = {}
    for name, unit in units.items():
        parser = parsers.get(name)
        if not isinstance(parser, NumberParser):
            continue
        words = {word.casefold(): factor for word, factor in {**parser.before, **parser.after}.items()}
        factor = _find_factor(words, unit.casefold())
        if factor is None:
            raise InvalidInput(
                "other_unit",
                f"{name} is in {unit} here, and in {_name_base(words)} where the model learned it. Convert the "
                "column, and predict again.",
                column=name,
            )
        if factor != 1.0:
            factors[name] = factor
    return factors


def _find_factor(words: Mapping[str, float], unit: str) -> float | None:
    """Find the factor of a unit by words and their factors; None for units that are not converted.

    Words that are no known unit (`beds`, `pcs`) name what is counted, and change nothing.
    """
    if unit in words:
        return words[unit]
    bases = _list_bases(words)
    currency, currencies = (
        CURRENCY_CODES.get(unit),
        {CURRENCY_CODES[word] for word in words if word in CURRENCY_CODES},
    )
    if currency and currencies:
        return 1.0 if currency in currencies else None
    for family in UNIT_FAMILIES:
        base = next((word for word in bases if word in family), None)
        if base is not None and unit in family:
            return family[unit] / family[base]
    return None if _is_known(unit) and any(map(_is_known, bases)) else 1.0


def _list_bases(words: Mapping[str, float]) -> Sequence[str]:
    return [word for word, factor in words.items() if factor == 1.0]


def _is_known(word: str) -> bool:
    return any(word in family for family in UNIT_FAMILIES)


def _name_base(words: Mapping[str, float]) -> str:
    base = next(iter(_list_bases(words)), "another unit")
    return CURRENCY_CODES.get(base, base)
