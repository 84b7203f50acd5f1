"""Names in backticks or quotes: of columns and tables."""

from collections.abc import Sequence

from app.agents.goals.tables.profiles import TableProfile
from app.agents.goals.words.tokenizer import words
from app.agents.questions.matching.column_matching import ColumnIndex, ColumnMatch
from app.agents.questions.matching.value_matching import ValueIndex

MAX_NAME_WORDS = 5
"""Words of a name that are compared with the names of columns."""


def named_columns(name: str, tables: Sequence[TableProfile], index: ColumnIndex) -> tuple[ColumnMatch, ...]:
    """Columns that have a name, in any case; else those that its words may mean."""
    return _with_name(name, tables) or index.match(words(name)[:MAX_NAME_WORDS])


def quoted_columns(text: str, tables: Sequence[TableProfile], values: ValueIndex) -> tuple[ColumnMatch, ...]:
    """The columns whose name stands in quotes, as `by "Paid?"`, unless some row has it as a value."""
    is_value = any(match.score == 1.0 for match in values.match(words(text)))
    return () if is_value else _with_name(text, tables)


def named_tables(name: str, tables: Sequence[TableProfile]) -> tuple[str, ...]:
    """Tables that have a name, in any case."""
    return tuple(table.name for table in tables if table.name.casefold() == name.casefold())


def _with_name(name: str, tables: Sequence[TableProfile]) -> tuple[ColumnMatch, ...]:
    return tuple(
        ColumnMatch(table.name, column, 1.0, 1.0)
        for table in tables
        for column in table.columns
        if column.name.casefold() == name.casefold()
    )
