"""Columns of places in a race or a ranking, of which the first is the best."""

from app.agents.goals.tables.profiles import Column
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set

_PLACES = word_set("place places placing position rank finish finished placement standing")
"""Names of the place that somebody takes in a race."""
MAX_PLACES = 200
"""Places of the largest field: more are numbers of another kind."""


def holds_places(column: Column) -> bool:
    """Tell if a number is the place that somebody takes: the first is the best."""
    is_place = column.type == "integer" and bool(_PLACES & {*words(column.name)}) and column.low == 1
    return is_place and isinstance(column.high, int | float) and 1 < column.high <= MAX_PLACES
