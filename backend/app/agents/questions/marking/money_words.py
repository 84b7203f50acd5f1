"""Words of money that name no column: the only amount of the tables is meant."""

from collections.abc import Sequence

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.tables.units import unit_of
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.matching.column_matching import ColumnMatch, name_parts
from app.agents.questions.question_reading import is_measurable

_MONEY_SCORE = 0.8
"""Score of the only amount of money of the tables, for a word such as `pay`."""
_EARNING = word_set("income earnings earn earns earned takings turnover revenue revenues proceeds")
_SPENDING = word_set("pay pays paid spend spends spent spending cost costs")
_MONEY_NAMES = word_set(
    "amount fee fees fare revenue income earnings charge charges payment payments bill donation gift price cost"
    " costs spend expense expenses budget salary wage rent"
)
_CURRENCIES = word_set("musd meur keur kusd chf sek nok dkk pln czk jpy cad aud inr")
"""Currencies and multiples of them behind names: `budget_musd`."""
_COSTS = word_set("cost costs spend expense expenses budget salary wage rent")
_OF_ONE_PIECE = word_set("per each unit rate tax tip discount")


def named_by_money(
    word: str, columns: tuple[ColumnMatch, ...], tables: Sequence[TableProfile]
) -> tuple[ColumnMatch, ...]:
    """The columns of a word, and the only amount of money of the tables for a word of money: `fee` of `pay`."""
    is_named = any(m.score >= _MONEY_SCORE and is_measurable(m.column) for m in columns)
    if word not in _EARNING | _SPENDING | {"money"} or is_named:
        return columns
    amounts = [
        (table.name, column)
        for table in tables
        for column in table.columns
        if is_measurable(column) and _holds_money(column)
    ]
    # Of two amounts either could be paid; what is earned is no cost.
    if len(amounts) != 1 or (word in _EARNING and _COSTS & {*words(amounts[0][1].name)}):
        return columns
    others = tuple(match for match in columns if match.column != amounts[0][1])
    matches = (ColumnMatch(*amounts[0], _MONEY_SCORE, 1.0), *others)
    return tuple(sorted(matches, key=lambda match: -match.score))


def _holds_money(column: Column) -> bool:
    parts = {*words(column.name), *name_parts(column.name)}
    unit = unit_of(column)
    is_money = bool((_MONEY_NAMES | _CURRENCIES) & parts) or (unit is not None and unit.dimension == "money")
    return is_money and not _OF_ONE_PIECE & parts
