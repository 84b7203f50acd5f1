"""Rewording of what one unit costs: `what does a kilogram cost` as the price per weight."""

import re
from collections.abc import Iterator, Sequence

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.tables.units import find_unit, unit_of
from app.agents.goals.words.tokenizer import words
from app.agents.questions.question_reading import is_measurable

_COST_OF_UNIT = re.compile(
    r"\b(?:what does|what did|how much does|how much did) (?:a|an|one|each|the) ([a-z]{1,20}) (?:cost|costs)\b"
    r"(?: us)?(?: on average)?",
    re.IGNORECASE,
)
"""The cost of one unit, which is the total cost by the total of the units."""
_MONEY = frozenset(
    {"price", "cost", "costs", "amount", "revenue", "fee", "fare", "spend", "spending", "charge"}
)
"""Words of names of amounts of money."""
_OF_ONE = frozenset({"per", "unit", "each"})
"""Words of names of prices that are of one unit already."""


def reword_unit_costs(question: str, tables: Sequence[TableProfile]) -> str:
    """Name the two columns of the cost of a unit, where only one holds money and only one the unit."""

    def name(match: re.Match[str]) -> str:
        unit = find_unit(match[1].casefold())
        measures = [*_measures(tables)]
        amounts = [c for c in measures if _MONEY & {*words(c.name)} and not _OF_ONE & {*words(c.name)}]
        quantities = [c for c in measures if unit is not None and unit_of(c) == unit]
        if len(amounts) != 1 or len(quantities) != 1:
            return match[0]
        return f"`{amounts[0].name}` per `{quantities[0].name}`"

    return _COST_OF_UNIT.sub(name, question)


def _measures(tables: Sequence[TableProfile]) -> Iterator[Column]:
    return (column for table in tables for column in table.columns if is_measurable(column))
