"""Costs of a column for a word: by its name, its table and what it holds."""

from collections.abc import Sequence
from functools import lru_cache

from app.agents.goals.tables.profiles import Column
from app.agents.goals.tables.units import find_unit, unit_of
from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.composition.cues import PERIODS
from app.agents.questions.composition.sketch import Sketch
from app.agents.questions.figures import PIECE_PRICES, QUANTITY_NAMES
from app.agents.questions.grammar_words import ORDINALS
from app.agents.questions.items import QuestionItem
from app.agents.questions.marking.mark_items import MONEY_NOUNS
from app.agents.questions.marking.origin_and_destination import is_other_end
from app.agents.questions.matching.column_matching import STEM, ColumnMatch, name_parts
from app.agents.questions.matching.value_matching import denies_flag, flag_values
from app.agents.questions.question_reading import (
    AMBIGUITY,
    GENERAL_PARTS,
    QuestionReading,
)
from app.agents.questions.tables.years import holds_years

DISTANCE_COST = 0.75
"""Cost of a column that a word does not resemble at all."""
PART_COST = 0.1
"""Cost of a column for a part of what a word means."""
OTHER_END_COST = 0.4
"""Cost of the other end of a way than the preposition says: `from stations` of `to_station`."""
STORED_VALUE_COST = 0.6
"""Cost of a column that a word resembles, where the word is a stored value: `cash` of `paid_by`."""
PRICE_OF_REVENUE_COST = 0.5
"""Cost of the price of one piece for `revenue`, which is that of all."""
REVENUE_NOUNS = frozenset({"revenue", "revenues", "sales", "turnover", "takings"})
DEDUCTION_COST = 0.5
"""Cost of what is taken off the money of sales, or put on it, for a word that means that money."""
_DEDUCTIONS = frozenset({"discount", "rebate", "refund", "tax", "vat", "tip", "commission"})
_MONEY_NAMES = REVENUE_NOUNS | {"amount", "revenue"}
"""Words of names of money that sales bring in."""
QUANTITY_OF_MONEY_COST, QUANTITY_BESIDE_MONEY_COST = 0.15, 0.25
"""Cost of a number of pieces for a word that rather means money (`sales`), and the same where a table holds
money too."""
OTHER_TABLE_COST = 0.08
"""Cost of a column of a table that the question does not name, where it names one."""


def match_cost(
    sketch: Sketch, reading: QuestionReading, items: Sequence[QuestionItem], match: ColumnMatch
) -> float:
    """The cost of a column for the item at a sketch's place, by its name, its table and what it holds."""
    item = items[sketch.place]
    score = SURE_SCORE if is_own_unit(item, match.column) or is_denied_flag(item, match.column) else 0.0
    score = score or (HOLDER_SCORE if is_only_holder(item, match, reading) else 0.0)
    cost = (1.0 - max(match.score, score)) * DISTANCE_COST + _lack_of_generality(item, match)
    # Only an exact name is stronger than the stored value that the word is.
    if item.values and item.values[0].score >= STEM > match.score:
        cost += STORED_VALUE_COST
    if item.word in MONEY_NOUNS and QUANTITY_NAMES & {*name_parts(match.column.name)}:
        is_beside = any(_MONEY_NAMES & {*name_parts(other.column.name)} for other in item.columns)
        cost += QUANTITY_BESIDE_MONEY_COST if is_beside else QUANTITY_OF_MONEY_COST
    if item.word in REVENUE_NOUNS and _is_price_of_pieces(match.column, reading):
        cost += PRICE_OF_REVENUE_COST
    if item.word in REVENUE_NOUNS and _DEDUCTIONS & {*words(match.column.name)} - {item.word}:
        cost += DEDUCTION_COST
    if reading.main_tables and match.table not in reading.main_tables:
        cost += OTHER_TABLE_COST
    is_other = is_other_end(match.column.name, _first_word(item, items, sketch.place))
    return cost + (OTHER_END_COST if is_other else 0.0)


def _first_word(item: QuestionItem, items: Sequence[QuestionItem], place: int) -> str:
    """The first word of a phrase, or the word before a single one: `from stations`, `to` of `to a station`."""
    if " " in item.text:
        return item.text.split(" ")[0]
    return items[place - 1].text if place else ""


def is_own_unit(item: QuestionItem, column: Column) -> bool:
    """Tell if a word is the unit of a column, which means it as surely as its name: `kilos` of `kg`."""
    unit = find_unit(item.word) if item.word not in ORDINALS and not holds_years(column) else None
    return unit is not None and unit_of(column) == unit


SURE_SCORE = 0.95
"""Score of a column for its unit and for the word that denies it, which mean no other one."""


HOLDER_SCORE = 0.85
"""Score of the only column with a word in its name."""
_KINDS = frozenset(
    map(
        stem,
        word_set(
            "city town country region place station site code name number type kind category class group status"
            " level score date time year amount value total count price cost fee rate"
        ),
    )
)
"""Stems of nouns behind what a column says, which only tell of which kind it is: `destination_city`."""
HOLDER_PARTS = 2
"""Words of a name of which one is enough where no other name has it: `destination` of `destination_city`."""


def is_only_holder(item: QuestionItem, match: ColumnMatch, reading: QuestionReading) -> bool:
    """Tell if a word is the noun of the name of a column and of no other one, or stands there for its kind."""
    if item.word == "duration" and match.column.name.startswith("duration "):
        return True  # the time between two dates has no other name
    own = stem(item.word)
    parts = [*map(stem, name_parts(match.column.name))]
    if item.kind != "word" or " " in item.text or len(parts) != HOLDER_PARTS or item.word in PERIODS:
        return False
    if own != parts[1] and not (own == parts[0] and parts[1] in _KINDS):
        return False
    # The same name in several tables counts once: a key and its copy are no rivals.
    names = {c.name for table in reading.scope.tables for c in table.columns if own in _stems_of(c.name)}
    return names == {match.column.name}


@lru_cache(maxsize=4_096)
def _stems_of(name: str) -> frozenset[str]:
    return frozenset(map(stem, name_parts(name)))


def is_denied_flag(item: QuestionItem, column: Column) -> bool:
    """Tell if a word is the opposite of what a yes/no column says: `uninsured` of `insured`."""
    return flag_values(column) is not None and denies_flag(item.text, column)


def _is_price_of_pieces(column: Column, reading: QuestionReading) -> bool:
    """Tell if a column is the price of one of several pieces whose number some table has."""
    quantities = (QUANTITY_NAMES & {*words(c.name)} for table in reading.scope.tables for c in table.columns)
    return bool(PIECE_PRICES & {*words(column.name)}) and any(quantities)


def _lack_of_generality(item: QuestionItem, match: ColumnMatch) -> float:
    """Cost of a part of what a word means, beside the whole: `sleep_rem` beside `sleep_total`."""
    if match.coverage >= 1 or GENERAL_PARTS & {*name_parts(match.column.name)}:
        return 0.0
    near = (other for other in item.columns if abs(other.score - match.score) < AMBIGUITY)
    return PART_COST if any(GENERAL_PARTS & {*name_parts(other.column.name)} for other in near) else 0.0
