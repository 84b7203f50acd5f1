"""Words of a goal that its forecast does not account for: of "ebike trips per week" the first, if no column,
value or name of the table has to do with it.

A forecast that counts or sums all rows has a number for whatever is asked: such a word is then a thing that the
table does not hold, or a selection of rows that was not made.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from app.agents.goals.clauses import GoalWord, Part, goal_words
from app.agents.goals.columns.evidence import Link, WordTable, distinctive_stems, find_evidence
from app.agents.goals.conditions.row_conditions import BOUNDS
from app.agents.goals.goal import Goal
from app.agents.goals.lexicon.concept_matches import concepts_of_phrase, stored_concepts
from app.agents.goals.periods import vocabulary
from app.agents.goals.periods.phrases import is_level, is_money, is_quantity, is_share
from app.agents.goals.phrases.intents import GENERIC
from app.agents.goals.series.period_forecast import PeriodForecast
from app.agents.goals.tables.profiles import Column
from app.agents.goals.tables.units import unit_of
from app.agents.goals.words.clause_vocabulary import BOUNDARIES
from app.agents.goals.words.stemming import stem, stems
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import COUNT_WORDS, MONTHS, SECONDS_BY_UNIT, WEEKDAYS, word_set

MIN_ROW_SIMILARITY = 0.45
"""Cosine from which a noun stands for the rows: `rides` for trips, `hits` for requests."""
_GENERAL_STEMS = frozenset(
    map(
        stem,
        word_set(
            """
            number count volume demand total amount sum figure level value average mean median typical usual
            normal expected need needed required likely busy many much long trend development outlook
            projection horizon period step times time daily weekly monthly hourly quarterly yearly annual
            annually season seasonal spring summer autumn winter christmas easter holiday holidays weekend
            weekends weekday weekdays today tomorrow tonight rest remainder end start beginning half first
            second third last more further extra each every per all both any another until till through
            throughout upto ahead onwards around roughly about like come coming going go happen see get have
            make take whole entire together altogether separately main single new old our say please hi
            most least fewest top bottom best worst biggest largest smallest greatest busiest quietest rank
            hello thanks thank curve chart plot line series peak maximum max minimum min highest lowest
            stand stands look looks develop evolve move moves business planning plan budget report where
            when how additional content plus minus
            """
        ),
    )
) | {stem(name) for name in (*MONTHS, *WEEKDAYS, *SECONDS_BY_UNIT, *(month[:3] for month in MONTHS))}
"""Stems of words that say how much, when and for what is forecast, and not what."""
_SALES = word_set("sell sells selling sold sale sales buy buys bought order ordered orders")
"""Words by which the rows, their quantities and their money are asked for alike."""
_ASKED_PARTS = (Part.HEAD, Part.MODIFIER)
"""Parts of a goal that say what is forecast: the others say for whom, why and from when."""


def find_unread_words(goal: Goal, forecast: PeriodForecast) -> list[str]:
    """Return the words that name what is forecast, and that have to do with nothing the forecast is made of."""
    is_bounded = any(condition.operator in BOUNDS for condition in forecast.conditions)
    nouns = [
        word
        for word in _asked_words(goal)
        if not (_is_general(word) or (is_bounded and (word.endswith("er") or vocabulary.PEOPLE.match(word))))
    ]
    meaningful = {*_words_of_parts(nouns, forecast), *_words_of_measure(goal, nouns, forecast)}
    unread = [word for word in nouns if word not in meaningful]
    # "Auctions held per quarter": a participle behind a noun says no more than the noun.
    if unread == nouns[-1:] and len(nouns) > 1 and nouns[-1].endswith(("ed", "ing")):
        return []
    return unread


def _asked_words(goal: Goal) -> list[str]:
    """Return the words that name what is forecast; all of them where none stands out ("treats we need")."""
    text_words = {*words(goal.text)}
    excluded = {part for phrase in goal.exclusions for part in stems(phrase)}
    parted = [
        word
        for word in dict.fromkeys(goal_words(goal.target_text))
        # Pairs of words that are joined (`turnup`) are not written so.
        if word.word in text_words and stem(word.word) not in excluded
    ]
    return [word.word for word in parted if word.part in _ASKED_PARTS] or [word.word for word in parted]


def _is_general(word: str) -> bool:
    return (
        word in GENERIC | BOUNDARIES | COUNT_WORDS.keys()
        or any(character.isdigit() for character in word)
        or stem(word) in _GENERAL_STEMS
    )


def _words_of_parts(nouns: Iterable[str], forecast: PeriodForecast) -> Iterator[str]:
    """Yield the words for the rows, for a column of the forecast, or for a value that selects its rows."""
    aggregation, measured = forecast.aggregation, _measured(forecast)
    restricted = {condition.column for condition in forecast.conditions}
    own = {*aggregation.source_columns, *restricted, *(_sources(measured) if measured else ())}
    columns = [column for column in forecast.table.columns if column.name in own]
    row_noun = Column(_row_noun(forecast), "text", "text")
    values = {part for c in forecast.conditions for value in c.values for part in stems(str(value))}
    for word in nouns:
        is_of_rows = stem(word) in values or _means(word, row_noun, MIN_ROW_SIMILARITY)
        if is_of_rows or any(_means(word, column) for column in columns):
            yield word


def _words_of_measure(goal: Goal, nouns: Sequence[str], forecast: PeriodForecast) -> Iterator[str]:
    """Yield the words for the kind of what is measured: money, a share, a count, or a phrase of two words."""
    measured = _measured(forecast)
    is_of_money = measured is not None and _is_money(measured)
    if measured is None:
        yield from _phrase_words(vocabulary.COUNT, goal)
    elif is_share(measured) or is_level(measured):
        yield from ("share", "rate", "percentage")
    if is_of_money or (
        measured and forecast.aggregation.measure == "sum" and _is_named_amount(nouns, measured)
    ):
        yield from _phrase_words(vocabulary.ADDITIVE, goal)
    if measured is None or is_of_money or is_quantity(measured):
        yield from _SALES
    if measured is not None and vocabulary.PERSONS.search(measured.name):
        yield from _phrase_words(vocabulary.PEOPLE, goal)
    stored = stored_concepts(distinctive_stems(measured.name, "")) if measured else {}
    for pair in pairwise(nouns):  # "fine dust"
        if any(concept in stored for concept in concepts_of_phrase(tuple(map(stem, pair)))):
            yield from pair


def _is_named_amount(nouns: Sequence[str], measured: Column) -> bool:
    """Test for an amount without a unit that the goal names: the `postage` of "postage income"."""
    is_amount = measured.type == "number" and unit_of(measured) is None
    return is_amount and any(_means(noun, measured) for noun in nouns)


def _phrase_words(pattern: re.Pattern[str], goal: Goal) -> Iterator[str]:
    return (word for match in pattern.finditer(goal.text) for word in words(match[0]))


def _measured(forecast: PeriodForecast) -> Column | None:
    name = forecast.aggregation.column
    return forecast.table.column(name) if name else None


def _row_noun(forecast: PeriodForecast) -> str:
    """Return the words for the rows: the table's name and those of its identifiers, as one name."""
    identifiers = [column.name for column in forecast.table.columns if column.hint == "id"]
    return " ".join([forecast.table.subject, *identifiers])


def _sources(measured: Column) -> tuple[str, ...]:
    derivation = measured.derivation
    return tuple(filter(None, (derivation.first, derivation.second))) if derivation else ()


def _is_money(measured: Column) -> bool:
    return is_money(measured) or bool(measured.derivation and measured.derivation.is_revenue)


def _means(word: str, column: Column, min_similarity: float = 1.0) -> bool:
    # "Billable hours" of bills: what can be done to the rows names them too.
    forms = {word, word.removesuffix("able")}
    matches = find_evidence(WordTable(GoalWord(form, Part.HEAD) for form in forms), column, "").matches
    if any(match.link is not Link.RELATED or match.similarity >= min_similarity for match in matches):
        return True
    stored = stored_concepts(distinctive_stems(column.name, ""))
    return any(concept in stored for concept in concepts_of_phrase((stem(word),)))
