"""Kinds and units of the values that a parser gives."""

import re
from collections.abc import Mapping
from typing import Any

from app.modeling.facts.readings import ValueKind
from app.modeling.type_inference.units import CURRENCY_CODES, PERCENT_WORDS, TIME_UNITS

_PERCENT_NAMES = frozenset({"%", "percent", "pct", "percentage", "prozent", "pourcentage", "porcentaje"})
_MONEY_NAMES = frozenset(
    [
        "amount",
        "price",
        "cost",
        "revenue",
        "salary",
        "wage",
        "wages",
        "fee",
        "balance",
        "betrag",
        "preis",
        "kosten",
        "umsatz",
        "saldo",
        "gehalt",
        "montant",
        "prix",
        "precio",
        "importe",
        "salario",
        "prezzo",
        "importo",
        "budget",
        "turnover",
    ]
)
"""Words of a name that tell money."""
_CURRENCY_NAMES = frozenset(
    {"€", "$", "£", "¥", "₹", "eur", "usd", "gbp", "chf", "jpy", "inr", "euro", "dollars"}
)
"""Words of a name that tell the currency: codes that are no words of a language."""
_PERIODS: dict[str, ValueKind] = {
    **dict.fromkeys(("month year", "month short year", "year month", "year-month", "month-year"), "month"),
    **dict.fromkeys(("year quarter", "quarter year", "numbered quarter"), "quarter"),
    **dict.fromkeys(("year week", "week year"), "week"),
}
"""Spelling of dates -> the period that it names."""


def describe_values(parser: Mapping[str, Any], unit: str, name: str = "") -> tuple[ValueKind | None, str]:
    """The kind and the unit of parsed values; None where the parser does not tell the kind.

    `unit`: the word beside the numbers that they are converted to. `name`: of the column; a percent sign or a
    currency in it tells the kind where the cells do not.
    """
    match parser.get("op"):
        case "read_number":
            return _describe_number(unit) if unit else _describe_by_name(name)
        case "read_clock":
            return ("time" if parser.get("is_time_of_day") else "duration"), "hours"
        case "read_date":
            if parser.get("epoch") == "yyyymm":
                return "month", ""
            spellings = parser.get("spellings") or ()
            periods = {_PERIODS.get(spelling) for spelling in spellings}
            # Mixed spellings, as months and full dates, name no common period.
            return (periods.pop() if len(periods) == 1 else None), ""
        case "read_boolean":
            return "boolean", ""
        case _:
            return None, ""


def _describe_by_name(name: str) -> tuple[ValueKind, str]:
    words = re.findall(r"[^\W\d_]+|[%€$£¥₹]", name.casefold())
    if _PERCENT_NAMES.intersection(words):
        return "percent", "%"
    currencies = {CURRENCY_CODES[word] for word in words if word in _CURRENCY_NAMES}
    if _MONEY_NAMES.intersection(words) or currencies:
        # Two currencies in a name, as in `eur_usd`, leave the unit open.
        return "money", currencies.pop() if len(currencies) == 1 else ""
    return "number", ""


def _describe_number(unit: str) -> tuple[ValueKind, str]:
    # `eur/kg` is money too.
    first = unit.split("/")[0].strip()
    if first in CURRENCY_CODES:
        return "money", CURRENCY_CODES[first]
    if unit in PERCENT_WORDS:
        return "percent", "%"
    return ("duration" if unit in TIME_UNITS else "number"), unit
