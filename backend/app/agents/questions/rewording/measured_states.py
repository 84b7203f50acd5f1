"""Rewording of states that a measure tells: `dry days` have no rain, `frosty` ones are below zero."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.marking.mark_items import mark_items
from app.agents.questions.matching.column_matching import name_parts
from app.agents.questions.question_reading import is_measurable


class MeasuredState(NamedTuple):
    """Words of a state. `names`: words of the measure that tells it; `bound`: how it compares with zero."""

    words: frozenset[str]
    names: frozenset[str]
    bound: str
    low_names: frozenset[str] = frozenset()
    """Words of which the measure has one too, where several are of its kind."""


_RAIN = word_set("rain rainfall precipitation precip prcp rr")
_STATES = (
    MeasuredState(word_set("dry rainless"), _RAIN, "= 0"),
    MeasuredState(word_set("rainy wet"), _RAIN, "above 0"),
    MeasuredState(word_set("snowy"), word_set("snow snowfall"), "above 0"),
    MeasuredState(word_set("windless"), word_set("wind windspeed"), "= 0"),
    MeasuredState(
        word_set("frost frosty freezing"),
        word_set("temperature temp tmin"),
        "below 0",
        word_set("min minimum low lowest tmin"),
    ),
)
_PHRASE = re.compile(
    r"\b(?:(?P<before>with|had|have|has) )?(?P<word>"
    + "|".join(sorted({word for state in _STATES for word in state.words}))
    + r")\b(?P<link> and(?= wind))?",
    re.IGNORECASE,
)
_NOUNS = frozenset({"frost"})
"""Words of states that stand behind `with`; the others stand before the noun of the rows."""


def reword_measured_states(question: str, tables: Sequence[TableProfile]) -> str:
    """Put a state that one measure tells behind the question, as a condition: `days where `rain_mm` = 0`.

    A state that is a stored value or the name of a column keeps its words.
    """
    match = _PHRASE.search(question)
    word = match["word"].casefold() if match else ""
    if match is None or _is_stored(word, tables) or (word in _NOUNS and not match["before"]):
        return question
    following = question[match.end() :].split()
    is_said_of_rows = word in _NOUNS or (
        bool(following) and any(item.row_tables for item in mark_items(following[0], tables).items)
    )
    columns = [*_telling(next(state for state in _STATES if word in state.words), tables)]
    if not is_said_of_rows or len(columns) != 1:
        return question
    column, bound = columns[0]
    is_kept = match["before"] and (match["link"] or word not in _NOUNS)
    before = f" {match['before'] if is_kept else ''} "
    rest = f"{question[: match.start()]}{before}{question[match.end() :]}"
    return f"{' '.join(rest.split()).rstrip(' ?.!')} where `{column.name}` {bound}"


def _telling(state: MeasuredState, tables: Sequence[TableProfile]) -> Iterator[tuple[Column, str]]:
    """Yield the measures that tell a state, with the bound that they have to keep."""
    measures = [
        column
        for table in tables
        for column in table.columns
        if is_measurable(column) and state.names & {*name_parts(column.name), *words(column.name)}
    ]
    if state.low_names:
        measures = [c for c in measures if state.low_names & {*name_parts(c.name), *words(c.name)}]
    yield from ((column, state.bound) for column in measures)


def _is_stored(word: str, tables: Sequence[TableProfile]) -> bool:
    texts = (
        str(text)
        for table in tables
        for column in table.columns
        for text in (column.name, *(column.values if column.type == "text" else ()))
    )
    return any(word in words(text) for text in texts)
