"""Score of how clearly a goal names a column: from its words, their parts in the sentence, and spellings."""

import re
from functools import lru_cache

from app.agents.goals.columns.evidence import find_evidence, make_word_table
from app.agents.goals.goal import Goal
from app.agents.goals.tables.profiles import Column
from app.agents.goals.words.index import WordIndex, make_word_index
from app.agents.goals.words.tokenizer import words

QUOTED_SCORE = 20.0
"""A column in quotes: above any sum of the scores below, which end at 12 with the bonus for its position
and at 16 in the table that the goal names."""
WRITTEN_SCORE = 14.0
"""A name as only columns are called (`arr_delay`), whatever its part in the sentence."""
NAMED_SCORE = 9.0
"""A name that is the head of the request; other evidence counts for a share of it."""
UNSUITABLE_SHARE = 0.3
"""Share of its score that a column keeps that is no useful target."""
_WRONG_TYPE_SHARE = 0.6
"""Share of its score that a column of classes keeps where an amount is asked for."""
_CONSEQUENCE_SHARE = 0.7
"""Share of its score that a column keeps that is empty in most rows."""


def score_column(goal: Goal, column: Column, table: str = "") -> float:
    """Score how clearly the goal names this column as its target. Identifiers and constants score low."""
    text = _text_score(goal, column, table)
    fit = 1.0 if column.can_be_target else UNSUITABLE_SHARE
    if goal.kind == "regression" and not column.is_number and not column.is_stored_as_text:
        fit *= _WRONG_TYPE_SHARE
    # What is known of a minority of the rows is rather a consequence of the outcome: a reason, a fee.
    if column.missing > 0.5:
        fit *= _CONSEQUENCE_SHARE
    return fit * text + 0.5 * (goal.kind == "classification" and column.has_few_values and text > 0)


def _text_score(goal: Goal, column: Column, table: str) -> float:
    name = words(column.name)
    if any(words(quoted) == name for quoted in goal.quoted):
        return QUOTED_SCORE
    evidence = find_evidence(make_word_table(goal.target_text), column, table)
    score = NAMED_SCORE * evidence.strength
    if _is_written_out(goal.target_text, column.name):
        score = max(score, WRITTEN_SCORE)
    elif _find_initials(make_word_index(goal.after_verb or goal.target_text), "".join(name)) is not None:
        score = max(score, NAMED_SCORE)
    # "Direction from these prices": in a forecast the input columns may also be the target.
    if goal.lookahead or goal.outlook:
        score = max(
            score, 0.6 * NAMED_SCORE * find_evidence(make_word_table(goal.input_text), column, table).strength
        )
    return score


_NAME = re.compile(r"\w+")


def _is_written_out(text: str, name: str) -> bool:
    """Tell if a text holds a name that is no plain word as it stands: `arr_delay`, `SalePrice`, `Q7`."""
    is_plain = name.isalpha() and (name.islower() or name.istitle() or name.isupper())
    return not is_plain and name in _written_names(text)


@lru_cache(maxsize=64)
def _written_names(text: str) -> frozenset[str]:
    return frozenset(_NAME.findall(text))


def _find_initials(index: WordIndex, name: str) -> int | None:
    """Return the position of words whose initials spell the name (miles per gallon: mpg), or None."""
    if len(name) < 3:
        return None
    at = index.initials.find(name)
    return at if at >= 0 else None
