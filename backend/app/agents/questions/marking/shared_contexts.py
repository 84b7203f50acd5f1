"""Columns of a word that another word of the question tells apart: `team` of home goals is the `home_team`."""

from collections.abc import Sequence
from dataclasses import replace

from app.agents.questions.items import QuestionItem
from app.agents.questions.matching.column_matching import ColumnMatch, name_parts, word_strength
from app.agents.questions.question_reading import AMBIGUITY

TOLD_SCORE = 0.9
"""Score of a column whose other words a neighbouring name has too."""
MIN_OWN_STRENGTH = 0.95
"""Strength of a word of a name from which a word of the question is that one."""


def tell_by_context(items: Sequence[QuestionItem]) -> list[QuestionItem]:
    """Keep of the columns that a word may mean alike the one whose other words are in another phrase."""
    return [_keep_matching(items, place) for place in range(len(items))]


def _keep_matching(items: Sequence[QuestionItem], place: int) -> QuestionItem:
    item = items[place]
    rivals = _rivals(item)
    if len(rivals) < 2 or item.values:
        return item
    others = {word for at, other in enumerate(items) if at != place for word in other.text.split(" ")}
    matching = [match for match in rivals if _other_parts(item, match) <= others]
    if len(matching) != 1:
        return item
    return replace(item, columns=(replace(matching[0], score=TOLD_SCORE, coverage=1.0),))


def _rivals(item: QuestionItem) -> list[ColumnMatch]:
    """Columns that a word names a part of, as likely as the best one."""
    best = item.columns[0] if item.kind == "word" and item.columns else None
    if best is None or best.coverage >= 1:
        return []
    return [match for match in item.columns if best.score - match.score < AMBIGUITY and match.coverage < 1]


def _other_parts(item: QuestionItem, match: ColumnMatch) -> set[str]:
    parts = name_parts(match.column.name)
    own_parts = {p for p in parts if any(word_strength(w, p) >= MIN_OWN_STRENGTH for w in item.text.split(" "))}
    return {*parts} - own_parts if own_parts else {""}
