"""Columns that words of a question mean without naming them, by their links: `crowd` and `attendance`."""

from collections.abc import Sequence
from dataclasses import replace

from app.agents.goals.columns.links import ColumnLinks, link_columns, softmax
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.tokenizer import words
from app.agents.questions.composition.cues import ADVERBS, is_cue
from app.agents.questions.conditions.date_spans import BOUNDS
from app.agents.questions.figures import PIECE_PRICES, QUANTITY_NAMES
from app.agents.questions.grammar_words import AGGREGATE_WORDS, KNOWN_WORDS
from app.agents.questions.items import QuestionItem
from app.agents.questions.matching.column_matching import ColumnMatch
from app.agents.questions.matching.value_matching import flag_values
from app.agents.questions.phrases import QuestionItems
from app.agents.questions.question_reading import is_measurable

MIN_PROBABILITY = 0.6
"""Probability from which a column is taken for what a word means: of the words of held-out goals that name no
column, the link of four in five was then right."""
MIN_IMPLIED_SCORE, MAX_IMPLIED_SCORE = 0.45, 0.75
"""Scores of a match by its link alone, for probabilities from 0 to 1."""
MIN_ASKED_PROBABILITY, ASKED_SCORE = 0.75, 0.72
"""Probability from which a number is what a question as a whole is about, and the score of its match with a
noun that names rows."""
MAX_SOFT_SCORE, MAX_DENIED_PROBABILITY = 0.6, 0.1
"""Score of a match by similar use or spelling, and the probability below which its link denies it."""


def mark_implied(items: QuestionItems, text: str, tables: Sequence[TableProfile]) -> QuestionItems:
    """Mark words that name nothing with the columns that they are linked with, and mend doubtful matches."""
    columns = [(table, column) for table in tables for column in table.columns]
    links = link_columns(text, columns)
    if links is None:
        return items
    marked = [*items.items]
    for place, item in enumerate(items.items):
        if _names_nothing(item) and not _describes_next(items.items, place):
            other_keys = {other.key for i in marked for other in i.columns[:1]}
            match = _linked(item, links, columns)
            if match is None and _names_groups(items.items, place):
                match = _linked_groups(item, links, columns, other_keys)
            # A column that another word names already is what that word means.
            if match is not None and match.key not in other_keys:
                marked[place] = replace(item, columns=(match,))
        elif _is_doubtful(item):
            marked[place] = _mend(item, links, columns)
    measure = _asked_number(links, columns)
    if measure is not None:
        marked = [
            replace(item, columns=(*item.columns, measure))
            if _may_be_measured(marked, place, measure)
            else item
            for place, item in enumerate(marked)
        ]
    return QuestionItems(marked, measure)


def _asked_number(links: ColumnLinks, columns: Sequence[tuple[TableProfile, Column]]) -> ColumnMatch | None:
    """Return the number that the request as a whole is about, if one is likely enough."""
    shares = softmax(links.targets)[:-1]
    best = max(range(len(columns)), key=shares.__getitem__)
    table, column = columns[best]
    if shares[best] < MIN_ASKED_PROBABILITY or not is_measurable(column) or flag_values(column) is not None:
        return None
    if PIECE_PRICES & {*words(column.name)} and any(QUANTITY_NAMES & {*words(c.name)} for c in table.columns):
        return None  # the value of an order is that of all its pieces
    return ColumnMatch(table.name, column, ASKED_SCORE, 1.0)


def _may_be_measured(items: Sequence[QuestionItem], place: int, measure: ColumnMatch) -> bool:
    """Tell if a noun behind an aggregate means a number of its rows: `average gift` of the amounts of gifts."""
    item, before = items[place], items[:place]
    while before and (before[-1].text in _BETWEEN or before[-1].word in ADVERBS):
        before = before[:-1]
    names_number = any(is_measurable(match.column) or match.key == measure.key for match in item.columns) or (
        bool(item.columns) and not item.row_tables and item.columns[0].score >= MAX_SOFT_SCORE
    )
    is_aggregated = bool(before) and AGGREGATE_WORDS.get(before[-1].text) in _MEASURED
    return item.kind == "word" and is_aggregated and not names_number and not item.values


_BETWEEN = frozenset({"the", "a", "an", "each", "of", "all", "single"})
_MEASURED = frozenset({"mean", "median", "sum", "stddev"})


def _shares(item: QuestionItem, links: ColumnLinks) -> list[float]:
    texts = set(item.text.split(" "))
    return [float(share) for share in links.shares(lambda link: link.word in texts)]


def _linked(
    item: QuestionItem, links: ColumnLinks, columns: Sequence[tuple[TableProfile, Column]]
) -> ColumnMatch | None:
    """Return the column that an item is linked with, if one is likely enough."""
    shares = _shares(item, links)[:-1]
    best = max(range(len(columns)), key=shares.__getitem__)
    if shares[best] < MIN_PROBABILITY:
        return None
    table, column = columns[best]
    if not is_measurable(column) and flag_values(column) is None:
        return None  # of a column of classes, the word is as likely another class: `sugar` of a column `food`
    score = MIN_IMPLIED_SCORE + (MAX_IMPLIED_SCORE - MIN_IMPLIED_SCORE) * shares[best]
    return ColumnMatch(table.name, column, score, 1.0)


_GROUPING = frozenset({"by", "per", "each", "every", "across"})
MIN_GROUP_PROBABILITY, MIN_GROUP_LEAD = 0.35, 0.7
"""Probability of a column of classes for a noun that names groups, and its part of that of all such columns: of
the nouns behind `by` and `per` of goals that the links had not seen, about nine in ten were then right."""


def _names_groups(items: Sequence[QuestionItem], place: int) -> bool:
    """Tell if a noun stands behind a word of groups, where it names a column and no class: `per chain`."""
    return place > 0 and items[place - 1].text in _GROUPING


def _linked_groups(
    item: QuestionItem,
    links: ColumnLinks,
    columns: Sequence[tuple[TableProfile, Column]],
    other_keys: set[tuple[str, str]],
) -> ColumnMatch | None:
    """Return the column of classes that a noun of groups is linked with, if it is likelier than the others."""
    shares = _shares(item, links)[:-1]
    classes = [
        place
        for place, (table, column) in enumerate(columns)
        if _has_classes(column) and (table.name, column.name) not in other_keys
    ]
    best = max(classes, key=shares.__getitem__, default=None)
    if best is None or shares[best] < MIN_GROUP_PROBABILITY:
        return None
    if shares[best] < MIN_GROUP_LEAD * sum(shares[place] for place in classes):
        return None
    table, column = columns[best]
    score = MIN_IMPLIED_SCORE + (MAX_IMPLIED_SCORE - MIN_IMPLIED_SCORE) * shares[best]
    return ColumnMatch(table.name, column, score, 1.0)


def _has_classes(column: Column) -> bool:
    return not (is_measurable(column) or column.unique or column.type == "datetime" or column.hint == "id")


def _is_doubtful(item: QuestionItem) -> bool:
    return bool(item.columns) and item.columns[0].score <= MAX_SOFT_SCORE and not item.values


def _mend(
    item: QuestionItem, links: ColumnLinks, columns: Sequence[tuple[TableProfile, Column]]
) -> QuestionItem:
    """Put the linked column in the place of a doubtful match that its link denies."""
    shares = _shares(item, links)
    keys = [(table.name, column.name) for table, column in columns]
    own = shares[keys.index(item.columns[0].key)] if item.columns[0].key in keys else 1.0
    linked = _linked(item, links, columns)
    return replace(item, columns=(linked,)) if linked and own < MAX_DENIED_PROBABILITY else item


def _describes_next(items: Sequence[QuestionItem], place: int) -> bool:
    """Tell if a word stands before the full name of a column, to which it rather belongs: `production line`."""
    following = items[place + 1] if place + 1 < len(items) else None
    return following is not None and bool(following.columns) and following.columns[0].score >= MIN_FULL_SCORE


MIN_FULL_SCORE = 0.9
"""Score of a column that a word names in full."""


def _names_nothing(item: QuestionItem) -> bool:
    if item.kind != "word" or item.word in KNOWN_WORDS or len(item.word) < 3 or not item.word.isalpha():
        return False
    is_verb = item.word.endswith(("ed", "ing")) or is_cue(item.word) or item.word in BOUNDS
    return not (is_verb or item.columns or item.values or item.row_tables)
