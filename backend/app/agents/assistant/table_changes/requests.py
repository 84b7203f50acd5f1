"""Messages that change a table: `rename a to b`, `fill missing age with the median`, `remove duplicates`."""

import re
from collections.abc import Callable, Sequence

from app.agents.assistant.brief import EarlierTurn
from app.agents.assistant.table_changes import (
    column_changes,
    date_columns,
    filled_values,
    made_columns,
    new_tables,
    row_removals,
    value_replacements,
)
from app.agents.assistant.table_changes.change import (
    ChangeRequest,
    ChangeStatements,
    Reading,
    UnclearTableChange,
)
from app.agents.assistant.tables.new_columns import name_pronouns
from app.agents.goals.tables.profiles import TableProfile
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion

MAX_CHARS = 400
"""Characters of a request: longer messages are no sentence that changes a table."""
_COURTESY = re.compile(
    r"^\W{0,5}(?:(?:please|now|then|ok|okay|first|also|and|can you|could you|would you|let's|let us|i want to"
    r"|i would like to|i'd like to|we should|you should)[\s,]{1,3}){0,4}",
    re.IGNORECASE,
)
_THANKS = re.compile(r"(?:,? (?:please|thanks|thank you|now))?[\s.!?]{0,5}$", re.IGNORECASE)
_THEN = re.compile(
    r"(?:[,;.] ?(?:and )?then |,? and then |,? and (?=show|plot|draw|list|count|give)|; ?)", re.IGNORECASE
)
READERS: tuple[Callable[[ChangeRequest], Reading], ...] = (
    column_changes.rename_columns,
    new_tables.drop_table,
    new_tables.save_answer,
    new_tables.make_table_of,
    new_tables.copy_table,
    new_tables.join_tables,
    new_tables.look_up_columns,
    new_tables.append_tables,
    date_columns.make_date_part,
    date_columns.make_span,
    made_columns.split_column,
    made_columns.assign_column,
    made_columns.make_column,
    row_removals.remove_duplicates,
    row_removals.remove_incomplete_rows,
    filled_values.fill_missing,
    column_changes.change_spelling,
    column_changes.round_columns,
    column_changes.scale_columns,
    column_changes.convert_columns,
    value_replacements.replace_values,
    column_changes.remove_columns,
    row_removals.remove_rows,
)
"""Readers of changes, the first of which that understands a message reads it: those of narrower words first."""


def read_table_change(
    message: str,
    tables: Sequence[TableProfile],
    earlier: Sequence[EarlierTurn],
    parse_question: Callable[[str], ParsedQuestion | UnparsedQuestion],
) -> ChangeStatements | UnclearTableChange | None:
    """Read a message that changes a table; None for another one, also where the last answer may be meant."""
    if len(message) > MAX_CHARS or not tables:
        return None
    plain = _COURTESY.sub("", " ".join(message.split()))
    # The whole message first: a name or a value may hold what separates two sentences.
    reading = _read(_THANKS.sub("", plain), tables, earlier, parse_question)
    if isinstance(reading, ChangeStatements) or (split := _THEN.search(plain)) is None:
        return reading
    first = _read(plain[: split.start()], tables, earlier, parse_question)
    if not isinstance(first, ChangeStatements):
        return reading or first
    rest = plain[split.end() :]
    return first._replace(rest=name_pronouns(rest, first.column) if first.column else rest)


def _read(
    text: str,
    tables: Sequence[TableProfile],
    earlier: Sequence[EarlierTurn],
    parse_question: Callable[[str], ParsedQuestion | UnparsedQuestion],
) -> Reading:
    request = ChangeRequest(text, tables, earlier, parse_question)
    return next((reading for read in READERS if (reading := read(request)) is not None), None)
