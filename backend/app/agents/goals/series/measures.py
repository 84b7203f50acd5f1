"""The number of a series that a goal asks for: candidates, scored by the words of the goal that each explains.

Candidates are the count of rows and every number of the table. None is ruled in or out by a single word: a word
explains several candidates, each by a different strength, and the strongest is taken where it leads clearly.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from app.agents.goals.clauses import Part, goal_words
from app.agents.goals.columns.name_score import NAMED_SCORE, score_column
from app.agents.goals.goal import Goal
from app.agents.goals.periods import vocabulary
from app.agents.goals.periods.phrases import (
    is_level,
    is_money,
    is_quantity,
    is_share,
    is_total,
    is_unit_price,
)
from app.agents.goals.series.select_sql import PeriodMeasure
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.tables.quantities import asked_quantities, stored_quantities
from app.agents.goals.tables.units import column_unit, find_unit
from app.agents.goals.words.concepts import share_concept
from app.agents.goals.words.stemming import stem, stems
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import IDENTIFIER_WORDS, PERSONS, UNITS_OF_MEASURE

# Strengths of evidence as shares of a column that is named in full as the head of the request. They were set on
# the tuned halves of the corpora of series; only their order matters for most goals.
MAX_NAME = 1.2
WHOLE_NAME, PART_OF_NAME, UNIT_NAME = 0.8, 0.55, 0.8
MONEY, TOTAL_BONUS, UNIT_PRICE_MALUS = 0.6, 0.1, 0.25
FURTHER_SHARE = 0.25
"""Share of the weaker evidence that is added to the strongest: two words for one column go together."""
QUALIFIER_SHARE = 0.6
"""Share that a column keeps of which a goal that counts names only the word before its noun, or only words that
name another column in full."""
COUNT_PRIOR, ROW_HEAD, ROW_NOUN, VALUE_HEAD, COUNT_WORD = 0.25, 0.7, 0.45, 0.6, 0.45
ROW_SHARE = 0.4
"""Share of a meaning that a column keeps where the goal names the rows by the same word."""
QUANTITY = 0.55
"""Strength of the only column of the asked kind: kilos for "tonnage"."""
NO_COUNT = 0.6
"""What a mean, or money, takes from the count of rows."""
QUANTITY_LEAD = 0.2
"""Lead of a column of quantities over the count of rows where a goal counts things that are no rows."""
MIN_SCORE, MIN_LEAD = 0.25, 0.05
"""Least score of a measure, and least lead over the next: less is a question for the user."""


_SOLD = re.compile(r"\b(?P<thing>[a-z]{3,30}) (?:sold|(?:that )?(?:we|i) (?:will )?sell)\b", re.IGNORECASE)
_PARTICIPLES = frozenset({"sold", "bought", "paid", "sent", "made", "taken", "held", "lost", "built"})
"""Irregular participles, which follow the noun that is counted: "cars sold"."""
_DIFFERENT = re.compile(
    r"\b(?:active|unique|distinct|different|individual|separate) (?P<thing>[a-z]{3,30})\b", re.IGNORECASE
)
_COUNTED_PERSONS = re.compile(
    rf"\b(?:how many|number of)(?: [a-z]+)? (?P<thing>(?:{'|'.join(sorted(PERSONS))})s)"
    r" (?:(?:that |who )?(?:will|would)|(?:are )?(?:going|likely|expected) to)\b",
    re.IGNORECASE,
)
"""Persons who will do something: who does it twice counts once. Guests of a booking are a number."""
DIFFERENT_THINGS = 2.0
"""Strength of a count of different things, which no other measure answers."""
_MEASURED_KINDS = frozenset({"mass", "length"})
"""Kinds of quantities that no count of rows is called by."""


@dataclass(frozen=True)
class SeriesMeasure:
    """A candidate: the mean or sum of a `column`, the number of its different names, or the count of rows."""

    column: Column | None
    score: float


@dataclass(frozen=True)
class MeasureRequest:
    """A goal beside the numbers that may be measured.

    `values`: values that the goal names, by their columns. `counts_rows`: rows may be counted (transactions).
    `events`: stems of what happened at the times of the series: `discharged` of `discharged_at`.
    """

    goal: Goal
    table: TableProfile
    numbers: Sequence[Column]
    values: Mapping[str, str]
    counts_rows: bool
    events: frozenset[str] = frozenset()

    @property
    def text(self) -> str:
        return self.goal.text

    def choose(self) -> SeriesMeasure | None:
        """Choose the measure with the strongest evidence; None without a clear one."""
        ranked = self.rank()
        if not ranked or ranked[0].score < MIN_SCORE:
            return None
        if len(ranked) > 1 and ranked[0].score - ranked[1].score < MIN_LEAD:
            return None
        return ranked[0]

    def rank(self) -> list[SeriesMeasure]:
        """Return all candidates, the likeliest first."""
        return sorted(self._candidates(), key=lambda candidate: -candidate.score)

    def function(self, column: Column) -> PeriodMeasure:
        """Return how the values of a period become one."""
        if column not in self.numbers:
            return "distinct"
        if self._asks_for_a_mean or is_share(column):
            return "mean"
        adds = vocabulary.ADDITIVE.search(self.text) or vocabulary.TOTAL.search(self.text)
        # Prices are levels, and yet takings are their sum.
        return "mean" if is_level(column) and not adds else "sum"

    @property
    def names_rows(self) -> bool:
        """Test if the head of the request is the table's own noun: "bookings" of a table `bookings`."""
        nouns = self._row_nouns
        heads = self._head_nouns
        counts_rows = vocabulary.COUNT.search(self.text) and vocabulary.ROW_NOUNS.search(self.text)
        # "Card payments" are the rows of a value of the column `payment`.
        names_value = any(heads & {*stems(name)} for name in self.values)
        if heads & nouns or self._sells_rows or counts_rows or names_value:
            return True
        # A synonym of the rows is no column's name, and no word of money: "price" is related to tickets, and
        # "revenue" to sales.
        heads = heads - {word for column in self.numbers for word in stems(column.name)} - vocabulary.AMOUNTS
        return any(share_concept(head, noun) for head in heads for noun in nouns)

    def _is_head(self, column: Column) -> bool:
        """Test if the head of the request is the column's name, the noun that ends it, or its unit."""
        content = _content_stems(column)
        nouns = set(_last_stem(column)) - self._row_nouns
        is_named = bool(content) and content <= self._heads | self._modifiers
        return is_named or bool(nouns & self._heads) or self._names_unit(column)

    def _candidates(self) -> Iterator[SeriesMeasure]:
        count = self._count_score()
        if self.counts_rows:
            yield SeriesMeasure(None, count)
            yield from (SeriesMeasure(column, DIFFERENT_THINGS) for column in self.different_things())
        counts_pieces = not (self.names_rows or self._asks_for_money or self._asks_for_a_mean)
        quantities = [c for c in self.numbers if c.type == "integer" and vocabulary.QUANTITIES.search(c.name)]
        for column in self.numbers:
            score = self._number_score(column) * (QUALIFIER_SHARE if self._is_claimed(column) else 1.0)
            if counts_pieces and column in quantities[:1]:
                score = max(score, count + QUANTITY_LEAD)
            yield SeriesMeasure(column, score)

    def different_things(self) -> Iterator[Column]:
        """Yield the columns of things that come back and that the goal counts once each: "active customers"."""
        for pattern in (_DIFFERENT, _COUNTED_PERSONS):
            for match in pattern.finditer(self.text):
                for column in self.table.columns:
                    is_named = stem(match["thing"].casefold()) in stems(column.name)
                    if is_named and column not in self.numbers and not column.unique:
                        yield column

    def _count_score(self) -> float:
        asks_for_no_count = self._asks_for_a_mean or vocabulary.AMOUNT.search(self.text) is not None
        score = COUNT_PRIOR - NO_COUNT * (asks_for_no_count or self._asks_for_substance)
        numbers = [c for c in self.numbers if not (self._numbers_rows(c) or self._tells_time(c))]
        if any(map(self._is_head, numbers)):
            return score  # "how many kilos" counts kilos
        if self.names_rows:
            score += ROW_HEAD
        elif self._content & self._row_nouns:
            score += ROW_NOUN
        elif self._heads & {word for value in self.values.values() for word in stems(value)}:
            score += VALUE_HEAD
        if vocabulary.COUNT.search(self.text):
            score += COUNT_WORD
        elif self._asks_for_money or self._quantity_columns:
            score -= NO_COUNT
        return score

    def _number_score(self, column: Column) -> float:
        own = _content_stems(column)
        shared = own & self.goal_stems
        name = min(MAX_NAME, score_column(self.goal, column, self.table.subject) / NAMED_SCORE)
        # The noun of the rows may also mean a column in a wider sense: the injured of accidents.
        numbers_rows = self._numbers_rows(column)
        tells_time = self._tells_time(column)
        is_weak = tells_time or (self.names_rows and (not shared or numbers_rows))
        parts = [name * ROW_SHARE if is_weak else name]
        is_row_noun = (
            self.counts_rows and shared <= self._row_nouns and (numbers_rows or not own <= self._heads)
        )
        if shared and not (is_row_noun or tells_time):
            parts.append(WHOLE_NAME if shared == own else PART_OF_NAME)
        if self._names_unit(column):
            parts.append(UNIT_NAME)
        if self._asks_for_money and is_money(column):
            malus = UNIT_PRICE_MALUS if is_unit_price(column) else 0.0
            parts.append(MONEY + TOTAL_BONUS * is_total(column) - malus)
        if vocabulary.PIECES.search(self.text) and vocabulary.QUANTITIES.search(column.name):
            parts.append(WHOLE_NAME)
        if column.name in self._quantity_columns:
            parts.append(QUANTITY)
        counts_people = vocabulary.PERSONS.search(column.name) and is_quantity(column)
        if counts_people and vocabulary.PEOPLE.search(self.text):
            parts.append(WHOLE_NAME)
        strongest = max(parts)
        score = strongest + FURTHER_SHARE * (sum(parts) - strongest)
        return self._less_where_counted(column, score, shared)

    def _tells_time(self, column: Column) -> bool:
        """Test if a goal names of a column only what happened: "cars sold" are rows, and no `sold_price`."""
        name = {*stems(vocabulary.REMARK.sub("", column.name))}
        shared = _content_stems(column) & self.goal_stems
        return bool(shared) and shared <= self.events and not name <= self.goal_stems

    def _less_where_counted(self, column: Column, score: float, shared: Collection[str]) -> float:
        """Return what remains of a score where the goal rather counts, or the column is a price of one."""
        ends_named = bool({*_last_stem(column)} & self.goal_stems)
        if self._sells_rows and not ends_named:
            return score * ROW_SHARE
        counts = vocabulary.COUNT.search(self.text) is not None
        if counts and self.counts_rows and is_money(column) and not self._names_unit(column):
            return score * ROW_SHARE  # "how many gifts" asks for no money
        if counts and shared and not ends_named:
            return score * QUALIFIER_SHARE  # "how many households" asks for no `household_size`
        if counts and column.type == "number" and not shared and not self._names_unit(column):
            return score * QUALIFIER_SHARE**2  # "how many deposits" asks for no balance
        if is_unit_price(column) and not vocabulary.AMOUNTS & {*shared}:
            score -= UNIT_PRICE_MALUS  # "units sold" asks for no `unit_price`
        return score

    def _numbers_rows(self, column: Column) -> bool:
        """Test if a column numbers the rows that the goal names: `flight` of flights, but not `sales`."""
        name = words(column.name)
        is_singular = bool(name) and not name[-1].endswith("s") and f"{name[-1]}s" in words(self.text)
        return (
            self.counts_rows
            and is_singular
            and column.type == "integer"
            and {*stems(column.name)} <= self._row_nouns | {*stems(self.table.name)}
        )

    def _is_claimed(self, column: Column) -> bool:
        """Test if the words that name a part of this column name all of another: `units` and `unit_price`."""
        own = _content_stems(column)
        shared = own & self.goal_stems
        if not shared or shared == own:
            return False
        return any(_content_stems(other) == shared for other in self.numbers if other is not column)

    def _names_unit(self, column: Column) -> bool:
        """Test for a goal that names the column's unit: kilos of a column `weight_kg`."""
        unit = column_unit(column.name) or find_unit(column.unit)
        if unit is None:
            return False
        # Times are also horizons: only the head of the request is a unit of the column then.
        candidates = self._head_words if unit.dimension == "time" else {*words(self.text)}
        units = [find_unit(word) for word in candidates]
        return any(other is not None and other.dimension == unit.dimension for other in units)

    @cached_property
    def _quantity_columns(self) -> frozenset[str]:
        """Names of the only numbers of a mass or length that the goal asks for by that kind alone."""
        kinds = asked_quantities(self.goal.target_text) & _MEASURED_KINDS
        alone = [[c.name for c in self.numbers if kind in stored_quantities(c)] for kind in kinds]
        return frozenset(names[0] for names in alone if len(names) == 1)

    @cached_property
    def _asks_for_a_mean(self) -> bool:
        return vocabulary.MEAN.search(self.text) is not None

    @cached_property
    def _asks_for_money(self) -> bool:
        is_sale = vocabulary.ADDITIVE.search(self.text) and not (self._sells_rows or self._sells_values)
        # "How many will we sell" counts, although it speaks of a sale.
        return bool(is_sale) and not vocabulary.COUNT.search(self.text)

    @cached_property
    def _sells_rows(self) -> bool:
        """Test if the rows are sold: "cars sold" asks for their number, whatever column has a price."""
        return any(stem(match["thing"].casefold()) in self._row_nouns for match in _SOLD.finditer(self.text))

    @property
    def _sells_values(self) -> bool:
        """Test if things are sold that a value selects: "coffees sold" asks for their number."""
        sold = {stem(match["thing"].casefold()) for match in _SOLD.finditer(self.text)}
        return any(sold & {*stems(value)} for value in self.values.values())

    @cached_property
    def goal_stems(self) -> set[str]:
        """Stems of all words of the goal, with units of money for their words."""
        return {stem(vocabulary.CURRENCIES.get(word, word)) for word in words(self.text)}

    @cached_property
    def _row_nouns(self) -> set[str]:
        # Only where the goal says the noun as it is: the stem of milkings is that of milk.
        substances = {stem(word) for word in self._substances if self._asks_for_substance}
        identifiers = {word for c in self.table.columns if c.hint == "id" for word in stems(c.name)}
        nouns = {*stems(self.table.subject)} | (identifiers - IDENTIFIER_WORDS) | self.events
        return nouns - substances

    @property
    def _substances(self) -> set[str]:
        """Words that the table's events are named after: `milk` of milkings."""
        return {noun for word in words(self.table.name) if (noun := _substance(word)) is not None}

    @property
    def _asks_for_substance(self) -> bool:
        """Test for a goal about what the rows are events of: milkings are counted, and milk is not."""
        return not self._substances.isdisjoint(self._head_words)

    @cached_property
    def _head_words(self) -> set[str]:
        return {word.word for word in goal_words(self.goal.target_text) if word.part is Part.HEAD}

    @cached_property
    def _heads(self) -> set[str]:
        return {stem(word) for word in self._head_words}

    @cached_property
    def _head_nouns(self) -> set[str]:
        """Stems of the head without participles: "the weight landed" asks for a weight, not for landings."""
        return {
            stem(word)
            for word in self._head_words
            if not (word.endswith(("ed", "ing")) or word in _PARTICIPLES)
        }

    @cached_property
    def _modifiers(self) -> set[str]:
        words_of_goal = goal_words(self.goal.target_text)
        return {stem(word.word) for word in words_of_goal if word.part is Part.MODIFIER}

    @cached_property
    def _content(self) -> set[str]:
        return {stem(word.word) for word in goal_words(self.text)}


def _substance(noun: str) -> str | None:
    """Return the word that an event is named after: `milk` of milkings; None for other nouns."""
    singular = noun.removesuffix("s")
    return singular.removesuffix("ing") if singular.endswith("ing") else None


_AGGREGATES = frozenset(stems("avg average mean median total sum min max minimum maximum"))
"""Stems of words of names that say how values were made, and not of what."""


def _last_stem(column: Column) -> list[str]:
    """Return the stem of the noun of a column's name: `size` of `household_size`; none without content."""
    content = _content_stems(column)
    return [part for part in stems(vocabulary.REMARK.sub("", column.name)) if part in content][-1:]


def _content_stems(column: Column) -> set[str]:
    """Return the stems of a column's name that tell it apart."""
    parts = set(stems(vocabulary.REMARK.sub("", column.name)))
    content = parts - vocabulary.EMPTY_STEMS
    if content <= _AGGREGATES:
        content = parts - _AGGREGATES  # the price of `avg_price`
    return content - UNITS_OF_MEASURE or content
