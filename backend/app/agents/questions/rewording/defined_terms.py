"""Terms that a question defines behind them: `the margin of each product (price minus cost)`."""

import re
from collections.abc import Sequence

from app.agents.goals.tables.profiles import TableProfile
from app.agents.goals.words.tokenizer import words
from app.agents.questions.grammar_words import CLASSES, IGNORED
from app.agents.questions.marking.mark_items import mark_items
from app.agents.questions.question_reading import is_measurable

MAX_WORDS = 3
"""Words of the name of a number."""
_DEFINITION = re.compile(r"^([^()]{2,120})\(=? ?([^()]{3,60})\)")
_OPERATION = re.compile(
    r"^(.{2,40}?)(?: (minus|less|plus|times|over|divided by|per) | ?([-/*+]) ?)(.{2,40})$", re.IGNORECASE
)
_SIGNS = {
    "-": "minus",
    "less": "minus",
    "+": "plus",
    "*": "times",
    "/": "per",
    "over": "per",
    "divided by": "per",
}
"""Operations by the words that questions are read by."""
_GROUP = re.compile(r" (?:(?:of|for|in) )?(?:each|every|per|by) .{2,40}$", re.IGNORECASE)
_FIGURE_WORDS = (IGNORED | CLASSES["@agg"]) - {"of", "on", "in", "the"}
"""Words before a noun that belong to what is asked of it."""


def reword_defined_terms(question: str, tables: Sequence[TableProfile]) -> str:
    """Put the two columns that define a term in its place, with the operation between them in words."""
    match = _DEFINITION.search(question)
    if match is None:
        return question
    operation = _OPERATION.search(match[2])
    if operation is None or not all(_is_measure(side, tables) for side in (operation[1], operation[4])):
        return question
    before = match[1].rstrip()
    group = _GROUP.search(before)
    term = before[: group.start()] if group else before
    sign = (operation[2] or operation[3]).lower()
    defined = f"{operation[1]} {_SIGNS.get(sign, sign)} {operation[4]}"
    figure = " ".join([*_words_before(term), defined])
    return f"{figure}{group[0] if group else ''}{question[match.end() :]}"


def _words_before(term: str) -> list[str]:
    """The words of a phrase that ask for a figure, before the noun that is defined."""
    before: list[str] = []
    for word in term.split():
        if word.lower() not in _FIGURE_WORDS:
            break
        before.append(word)
    return before


def _is_measure(phrase: str, tables: Sequence[TableProfile]) -> bool:
    """Tell if a phrase of at most MAX_WORDS words names a number."""
    items = [item for item in mark_items(phrase, tables).items if item.kind in ("word", "name")]
    measures = [item for item in items if item.columns and is_measurable(item.columns[0].column)]
    return len(words(phrase)) <= MAX_WORDS and len(measures) == len(items) > 0
