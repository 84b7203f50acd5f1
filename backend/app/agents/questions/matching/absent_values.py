"""Words of a question that are of a kind with the stored values of a column, none of which is called so."""

from collections.abc import Iterator, Sequence

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.stemming import stem
from app.agents.goals.words.vectors import known_words, most_similar
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.matching.column_matching import name_parts

MAX_KINDS = 30
"""Different values of a column that names kinds of things."""
MIN_COSINE = 0.55
"""Cosine of a word with one of the values from which it is of their kind: `pines` among oak and larch."""
_NO_KINDS = word_set("time times date dates day days week month year number value place length size")
"""Nouns of what is measured, which are no kinds of things."""
MAX_NAMED_VALUES = 5
"""Values that a sentence names."""


def describe_absence(word: str, tables: Sequence[TableProfile]) -> str:
    """Say that no value of the column whose values are of a kind with a word is called so; empty for others."""
    if word in _NO_KINDS or _names_column(word, tables):
        return ""
    singular = next(iter(known_words([word.removesuffix("s"), stem(word), word])), "")
    if not singular:
        return ""
    nearest = max(
        ((most_similar([singular], names)[0][1], column) for column, names in _kinds(tables)),
        key=lambda pair: pair[0],
        default=None,
    )
    if nearest is None or nearest[0] < MIN_COSINE:
        return ""
    column = nearest[1]
    listing = ", ".join(map(str, column.values[:MAX_NAMED_VALUES]))
    more = ", ..." if len(column.values) > MAX_NAMED_VALUES else ""
    return f"no row has it: `{column.name}` holds {listing}{more}"


def _names_column(word: str, tables: Sequence[TableProfile]) -> bool:
    """Tell if a word is part of a column's name: `colour` is no colour that the rows lack."""
    return any(stem(word) in map(stem, name_parts(c.name)) for table in tables for c in table.columns)


def _kinds(tables: Sequence[TableProfile]) -> Iterator[tuple[Column, list[str]]]:
    """Yield the columns of kinds of things with those of their values that are single known words."""
    for table in tables:
        for column in table.columns:
            if column.type != "text" or column.unique or not 2 <= len(column.values) <= MAX_KINDS:
                continue
            names = known_words([str(value).casefold() for value in column.values])
            if names:
                yield column, names
