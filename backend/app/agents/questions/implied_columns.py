"""Columns that a question means by the ranking of goals, for nouns that name nothing in its tables."""

from collections.abc import Sequence
from dataclasses import replace

from app.agents.goals.column_ranking import rank_columns
from app.agents.goals.parser import parse_goal
from app.agents.goals.tables import TableProfile
from app.agents.questions.column_matching import ColumnMatch
from app.agents.questions.composition.cues import is_cue
from app.agents.questions.date_spans import BOUNDS
from app.agents.questions.grammar_words import KNOWN_WORDS
from app.agents.questions.items import QuestionItem
from app.agents.questions.phrases import QuestionItems
from app.agents.questions.question_reading import is_measurable
from app.agents.questions.value_matching import flag_values

MIN_PROBABILITY = 0.7
"""Probability from which the ranked column is taken: at 0.5 one in three was another one."""
MIN_IMPLIED_SCORE, MAX_IMPLIED_SCORE = 0.45, 0.75
"""Scores of a match by the ranking alone, for probabilities from 0 to 1."""
MAX_RANKED_COLUMNS = 300
"""Columns that are ranked: wider tables are asked about by the names of their columns."""


def mark_implied(items: QuestionItems, text: str, tables: Sequence[TableProfile]) -> QuestionItems:
    """Mark the first noun that names nothing with the column that the whole question most likely means."""
    unknown = (place for place, item in enumerate(items.items) if _names_nothing(item))
    place = next((place for place in unknown if not _describes_next(items.items, place)), None)
    candidates = [
        (table, column)
        for table in tables
        for column in table.columns
        if is_measurable(column) or flag_values(column) is not None
    ]
    if place is None or not 0 < len(candidates) <= MAX_RANKED_COLUMNS:
        return items
    probabilities = rank_columns(parse_goal(text), candidates)
    best = max(range(len(candidates)), key=lambda number: probabilities[number])
    table, column = candidates[best]
    is_taken = any(match.column == column for item in items.items for match in item.columns[:1])
    if probabilities[best] < MIN_PROBABILITY or is_taken:
        return items
    score = MIN_IMPLIED_SCORE + (MAX_IMPLIED_SCORE - MIN_IMPLIED_SCORE) * probabilities[best]
    match = ColumnMatch(table.name, column, score, 1.0)
    marked = replace(items.items[place], columns=(match,))
    return QuestionItems([*items.items[:place], marked, *items.items[place + 1 :]])


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
