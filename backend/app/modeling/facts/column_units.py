"""Units of columns: from the stored reading of their cells, else from their names."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.modeling.facts.readings import FileReading

UnitKind = Literal["currency", "percent", "amount"]


@dataclass(frozen=True)
class ColumnUnit:
    """`text`: the words after an amount, such as `dollars`. `is_known`: false for words of the data."""

    text: str
    kind: UnitKind = "amount"
    is_known: bool = True


_CURRENCIES: tuple[tuple[str, str], ...] = (
    ("$ us$ usd dollar dollars", "dollars"),
    ("a$ aud", "Australian dollars"),
    ("c$ cad", "Canadian dollars"),
    ("hk$ hkd", "Hong Kong dollars"),
    ("€ eur euro euros", "euros"),
    ("£ gbp", "pounds sterling"),
    ("¥ jpy yen", "yen"),
    ("₹ inr rs rs. rupees", "rupees"),
    ("chf fr. francs", "Swiss francs"),
    ("r$ brl", "reais"),
    ("zł pln", "zloty"),
    ("kr kr. kronor kroner", "kroner"),
    ("sek", "Swedish kronor"),
    ("nok", "Norwegian kroner"),
    ("dkk", "Danish kroner"),
    ("₩ krw", "won"),
    ("₽ rub", "roubles"),
    ("cny rmb yuan", "yuan"),
    ("czk", "Czech koruny"),
    ("mxn", "Mexican pesos"),
    ("zar", "rand"),
    ("tl try", "lira"),
)
_PERCENT = "% percent pct perc prozent"
_AMOUNTS: tuple[tuple[str, str], ...] = (
    ("ms millis millisecond milliseconds", "milliseconds"),
    ("s sec secs second seconds", "seconds"),
    ("min mins minute minutes", "minutes"),
    ("h hr hrs hour hours", "hours"),
    ("d day days", "days"),
    ("wk wks week weeks", "weeks"),
    ("mo month months", "months"),
    ("yr yrs year years", "years"),
    ("mg", "mg"),
    ("g gram grams", "g"),
    ("kg kilogram kilograms", "kg"),
    ("t tonne tonnes", "tonnes"),
    ("lb lbs pound pounds", "pounds"),
    ("oz ounce ounces", "ounces"),
    ("mm millimetre millimetres millimeter millimeters", "mm"),
    ("cm centimetre centimetres centimeter centimeters", "cm"),
    ("m metre metres meter meters", "m"),
    ("km kilometre kilometres kilometer kilometers", "km"),
    ("in inch inches", "inches"),
    ("ft foot feet", "feet"),
    ("mi mile miles", "miles"),
    ("m2 m² sqm", "m²"),
    ("km2 km²", "km²"),
    ("sqft ft2 ft²", "square feet"),
    ("ha hectare hectares", "hectares"),
    ("m3 m³", "m³"),
    ("ml", "ml"),
    ("cl", "cl"),
    ("l litre litres liter liters", "litres"),
    ("kmh km/h kph kmph", "km/h"),
    ("mph", "mph"),
    ("m/s mps", "m/s"),
    ("mpg", "miles per gallon"),
    ("w watt watts", "W"),
    ("kw", "kW"),
    ("mw", "MW"),
    ("wh", "Wh"),
    ("kwh", "kWh"),
    ("mwh", "MWh"),
    ("v volt volts", "V"),
    ("hp bhp", "hp"),
    ("c °c celsius degc", "°C"),
    ("f °f fahrenheit degf", "°F"),
    ("k kelvin", "K"),
    ("pa", "Pa"),
    ("hpa", "hPa"),
    ("kpa", "kPa"),
    ("mbar", "mbar"),
    ("bar", "bar"),
    ("psi", "psi"),
    ("hz", "Hz"),
    ("khz", "kHz"),
    ("mhz", "MHz"),
    ("ghz", "GHz"),
    ("kb", "kB"),
    ("mb", "MB"),
    ("gb", "GB"),
    ("tb", "TB"),
    ("kcal", "kcal"),
    ("cal calories", "calories"),
    ("ppm", "ppm"),
    ("ppb", "ppb"),
    ("deg degree degrees", "degrees"),
)
_UNITS: dict[str, ColumnUnit] = {
    **{word: ColumnUnit(text, "currency") for words, text in _CURRENCIES for word in words.split()},
    **{word: ColumnUnit("%", "percent") for word in _PERCENT.split()},
    **{word: ColumnUnit(text) for words, text in _AMOUNTS for word in words.split()},
}
_SYMBOLS: dict[str, str] = {
    # The spelled-out text where it is as short as the word that is written in names: `kWh`, `m²`.
    **{
        word: text if len(text) <= len(words.split()[0]) else words.split()[0]
        for words, text in _AMOUNTS
        for word in words.split()
    },
    **{word: word.upper() for words, _ in _CURRENCIES for word in words.split()},
    **dict.fromkeys(_PERCENT.split(), "%"),
}
"""Short forms of units, for compound ones: `t/ha`, `USD/m²`."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ONLY_IN_BRACKETS = _words(
    "c f k s t d l v w m g h in try tl rs rs. kr kr. fr. cad cal bar mo hr mw mb min mins sec second minute "
    "hour day week month year yr wk foot inch mile pound ounce ton degree metre meter"
)
"""Words that end names for other reasons (`grade_c`, `temp_min`, `birth_year`); in brackets they are units."""
_UNITS_OF_QUANTITIES = _words("g m l h s min mins sec hr mb")
"""Words of them that are units after the word for a quantity: `body_mass_g`, `duration_min`."""
_QUANTITIES = _words(
    "weight mass length height width depth distance volume duration time elevation altitude delay wait age "
    "flipper bill travel trip ride stay size capacity"
)
_WHOLE_NAMES = _words("seconds minutes hours days weeks months years km miles kwh mpg mph usd eur hp")
"""Units that are the whole name of a column."""
_DENOMINATORS: dict[str, str] = {
    word: dimension
    for dimension, words in (
        ("time", "s sec second h hr hour min minute d day wk week mo month yr year"),
        ("length", "m metre meter km mi mile ft foot"),
        ("area", "m2 m² sqm km2 km² sqft ft2 ft² ha hectare"),
        ("volume", "m3 m³ l litre liter ml"),
        ("mass", "kg kilogram g gram t tonne lb pound oz"),
        ("energy", "kwh mwh"),
    )
    for word in words.split()
}
"""Words that units are given per, with their dimensions: `t_ha`, `eur_kwh`."""
_SHORT_NUMERATORS = _words("t g l w")
"""Of the words that end names for other reasons, those that are units before an area or volume: `t_ha`. Others
are more often no units there: `k_usd`, `min_kg`."""
_TIMES = frozenset({"seconds", "minutes", "hours", "days", "weeks", "months", "years"})
_NAME_WORDS = re.compile(r"[A-Z]?[a-z%°²³]+[23]?|[A-Z%°²³]+[23]?")


def find_unit(name: str, reading: FileReading | None = None) -> ColumnUnit | None:
    """Return the unit of a column: what was written beside its numbers, else the end of its name."""
    column = reading.find(name) if reading else None
    cell_unit = _unit_of_cells(column.parser) if column and column.parser else None
    return cell_unit or _unit_of_name(name)


def _unit_of_cells(parser: dict[str, object]) -> ColumnUnit | None:
    """Return the unit that numbers are converted to: the word beside them with the factor of one."""
    if parser.get("op") != "read_number":
        return None
    for side in ("before", "after"):
        factors = parser.get(side)
        words = [word for word, factor in factors.items() if factor == 1.0] if isinstance(factors, dict) else []
        for word in words:
            if unit := _UNITS.get(word):
                return unit
        # A word before a number is a label as often as a unit.
        if words and words[0].isalpha() and len(words) == 1 and side == "after":
            return ColumnUnit(words[0], is_known=False)
    return None


def _unit_of_name(name: str) -> ColumnUnit | None:
    """Return the unit in brackets at the end of a name, or its last words: `(minutes)`, `_eur`, `_kg_ha`."""
    if elapsed := _unit_of_computed_time(name):
        return elapsed
    opening = max(name.rfind("("), name.rfind("["))
    if opening >= 0 and name.rstrip().endswith((")", "]")):
        # What stands in brackets is meant as the unit: if it is not known, the words before it are none either.
        return _unit_of_brackets(name[opening + 1 :].rstrip(" )]").strip().casefold())
    parts = [part.casefold() for part in _NAME_WORDS.findall(name)]
    if not parts:
        return None
    last, before = parts[-1], parts[:-1]
    # A preposition: `delay_in_minutes` has no inches.
    if before and before[-1] != "in" and last in _UNITS and (before[-1] == "per" or before[-1] in _UNITS):
        return _unit_of_ratio(before, last)
    is_quantity = last in _UNITS_OF_QUANTITIES and bool(_QUANTITIES & set(before))
    is_unit = last in _WHOLE_NAMES if not before else last not in _ONLY_IN_BRACKETS or is_quantity
    return _UNITS.get(last) if is_unit else None


def _unit_of_brackets(text: str) -> ColumnUnit | None:
    """Return the unit that brackets hold: `minutes`, `kg/ha`, `eur per hour`."""
    numerator, slash, denominator = (part.strip() for part in text.replace(" per ", "/").partition("/"))
    if text in _UNITS or not slash:
        return _UNITS.get(text)
    return _make_ratio(numerator, denominator) if numerator in _UNITS and denominator in _DENOMINATORS else None


def _unit_of_ratio(before: Sequence[str], last: str) -> ColumnUnit | None:
    """Return the compound unit at the end of a name whose last two words are units, or have `per` between them.

    None where they make no ratio: the last word alone would be a wrong unit.
    """
    is_spelled_out = before[-1] == "per"
    numerator = before[-2] if is_spelled_out and len(before) > 1 else before[-1]
    dimension = _DENOMINATORS.get(last)
    if numerator not in _UNITS or dimension is None:
        return None
    is_same = dimension != "mass" and _DENOMINATORS.get(numerator) == dimension
    # `usd_m` may be millions, and `m2_s` after another unit is a part of a longer ratio.
    is_million = last == "m" and _UNITS[numerator].kind == "currency"
    is_longer = not is_spelled_out and len(before) > 1 and before[-2] in _UNITS
    if is_same or is_longer or (is_million and not is_spelled_out):
        return None
    if numerator in _ONLY_IN_BRACKETS and not is_spelled_out:
        is_amount = numerator in _SHORT_NUMERATORS and dimension in ("area", "volume")
        return _make_ratio(numerator, last) if is_amount else None
    return _make_ratio(numerator, last)


def _make_ratio(numerator: str, denominator: str) -> ColumnUnit:
    return ColumnUnit(f"{_SYMBOLS[numerator]}/{_SYMBOLS[denominator]}")


def _unit_of_computed_time(name: str) -> ColumnUnit | None:
    """Return the unit of a time between columns: `days from opened to closed`, `delay in hours (a after b)`."""
    word, _, columns = name.partition(" from ")
    if " to " not in columns:
        word = name.removeprefix("delay in ").partition(" (")[0] if name.startswith("delay in ") else ""
    unit = _UNITS.get(word)
    return unit if unit and unit.text in _TIMES else None
