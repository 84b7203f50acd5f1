"""The word `returns`, which means changes of a price, or goods that come back."""

import re
from collections.abc import Sequence
from dataclasses import replace

from app.agents.goals.goal import Goal
from app.agents.goals.phrases.trading_terms import forecast_unit
from app.agents.goals.tables.profiles import TableProfile
from app.agents.goals.words.stemming import stem, stems
from app.agents.goals.words.vocabulary import word_set

_RETURNS = re.compile(r"\breturns?\b", re.IGNORECASE)
_CHANGES = re.compile(r"\b(?:changes?|growth|log[- ]returns?)\b", re.IGNORECASE)
"""Other words of the outlook `change`, which mean no goods."""
_PRICES = frozenset(map(stem, word_set("price close closing quote adjusted nav index stock share fund coin")))
"""Stems of names that series of prices have."""


def settle_returns(goal: Goal, tables: Sequence[TableProfile]) -> Goal:
    """Return the goal without the outlook `change` that it has by the word `returns` alone, unless tables hold
    prices and no column of returns."""
    if goal.outlook != "change" or not _RETURNS.search(goal.text):
        return goal
    # "Daily returns" and "returns and growth" are those of prices, whatever the tables hold.
    if _CHANGES.search(goal.text) or forecast_unit(goal.text):
        return goal
    names = [(column.is_number, set(stems(column.name))) for table in tables for column in table.columns]
    has_prices = any(is_number and _PRICES & own for is_number, own in names)
    is_stored = any(stem("returns") in own for _, own in names)
    return goal if has_prices and not is_stored else replace(goal, outlook=None)
