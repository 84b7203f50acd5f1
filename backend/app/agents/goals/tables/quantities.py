"""Kinds of quantities: what a goal asks for ("how heavy", "how much will we pay"), and what columns hold."""

import re

from app.agents.goals.tables.profiles import Column
from app.agents.goals.tables.units import column_unit, find_unit
from app.agents.goals.words.quantity_names import quantities_of_name
from app.agents.goals.words.tokenizer import words

_REQUESTS_BY_KIND: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(rf"\b(?:{words_of_kind})\b", re.IGNORECASE))
    for kind, words_of_kind in (
        (
            "time",
            r"how (?:long|late|soon|quick(?:ly)?|fast|old)|durations?|minutes?|hours?|days|wait(?:ing)?"
            r"|lengths? of (?:(?:the|a|an|each|their|hospital) )?(?:stays?|time|calls?|visits?|service|trips?)"
            r"|lateness|delays?|tenure|takes? (?:until|to)|time (?:to|until|taken|needed)|overdue",
        ),
        (
            "money",
            r"how (?:much|expensive|costly|pricey|cheap)\b.{0,60}\b(?:pay|cost|spend|earn|charge|owe|worth"
            r"|bring in|make|sell|raise|rent|bill)\w{0,3}|prices?|costs?|fees?|fares?|bills?|revenue|turnover"
            r"|income|salary|salaries|wages?|earn(?:s|ings)?|spend(?:ing)?|worth|rents?|premiums?|money|takings|budget"
            r"|expensive|cheap|dollars|euros?|pounds|bucks|valued?|pays?",
        ),
        ("count", r"how (?:many|often|frequent(?:ly)?)|numbers? of|counts?|times"),
        ("mass", r"how heavy|weigh(?:s|t|ts)?|mass|tonnage|tonnes?|kilos?|grams?"),
        (
            "length",
            r"how (?:far|tall|wide|deep|high)|distance|lengths?|widths?|depths?|heights?|kilomet\w{1,4}|miles",
        ),
        ("temperature", r"how (?:hot|cold|warm)|temperatures?|degrees|hot|cold|warm|frost|heat"),
        ("share", r"percent(?:age)?|rates?|proportion|yields?|efficiency"),
        (
            "rating",
            r"how (?:good|bad|satisfied|happy|well)|ratings?|scores?|grades?|marks?|points|quality|stars",
        ),
        ("place", r"where|which (?:city|town|region|area|district|place|branch|country|station)"),
    )
)
"""Words by which goals ask for a kind of quantity."""
_KINDS_BY_DIMENSION = {
    "time": "time",
    "money": "money",
    "mass": "mass",
    "length": "length",
    "temperature": "temperature",
    "share": "share",
}


def asked_quantities(text: str) -> frozenset[str]:
    """Return the kinds of quantities that a goal asks for."""
    return frozenset(kind for kind, pattern in _REQUESTS_BY_KIND if pattern.search(text))


def stored_quantities(column: Column) -> frozenset[str]:
    """Return the kinds of quantities that a column may hold, by its unit and the words of its name."""
    unit = find_unit(column.unit) or column_unit(column.name)
    by_unit = _KINDS_BY_DIMENSION.get(unit.dimension) if unit else None
    return quantities_of_name(words(column.name)) | ({by_unit} if by_unit else set())


def fits_unit(unit: str | None, column: Column) -> bool:
    """Test if an amount in this unit may be one of the column: both are of one kind, or one is unknown."""
    unit_of_goal = find_unit(unit) if unit else None
    kind = _KINDS_BY_DIMENSION.get(unit_of_goal.dimension) if unit_of_goal else None
    stored = stored_quantities(column)
    return kind is None or not stored or kind in stored
