"""Requests for the last answer, or a table, as a file: `save that as csv`, `export this`, `download orders`."""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from app.agents.assistant.brief import EarlierTurn
from app.agents.goals.words.tokenizer import words as split_words
from app.agents.goals.words.vocabulary import word_set

MAX_CHARS = 200
"""Characters of a request: longer messages ask for more than a file."""
_PATH = re.compile(
    r"[\"'`]?(?P<path>[\w-][\w./-]{0,200}\.(?:csv|tsv|xlsx|json|parquet))\b[\"'`]?", re.IGNORECASE
)
_FORMATS = {
    "csv": ".csv",
    "tsv": ".tsv",
    "excel": ".xlsx",
    "xlsx": ".xlsx",
    "xls": ".xlsx",
    "spreadsheet": ".xlsx",
    "json": ".json",
    "parquet": ".parquet",
    "comma": ".csv",
    "tab": ".tsv",
}
_FILE_NOUNS = frozenset({"file", "sheet", "workbook"})
"""Nouns of a file of any format."""
_LEADS_TO_FORM = frozenset({"as", "in", "into", "to"})
_MAKES_FILES = frozenset({"export", "download"})
"""Verbs that mean a file whatever is said of it."""
_SAVES = frozenset({"save", "store"})
"""Verbs that mean a file where they are said of an answer that was just read."""
_KEEPS = _SAVES | {
    *("write", "dump", "give", "send", "get", "need", "want", "have", "put", "turn", "make", "create")
}
"""Verbs that mean a file where a format or a name is said."""
_SILENT = word_set(
    """
    please ok okay now then and great good thanks can could may you i we me us how do would like to as in into a
    an the that this it them these those everything last whole full above result results table answer rows list
    data numbers figures output file sheet workbook format form of called named all for my local copy with
    separated delimited values
    """
)
"""Words of a request that say nothing of what is saved."""


class TableExport(NamedTuple):
    """A file to make: the SELECT of its rows, and its name."""

    sql: str
    name: str


class ExportRefusal(NamedTuple):
    """The reason why nothing is saved."""

    reason: str


def read_export(
    message: str, earlier: Sequence[EarlierTurn], tables: Collection[str], files: Collection[str]
) -> TableExport | ExportRefusal | None:
    """Read a request for a file of rows; None for another message. `files`: names that are taken."""
    if len(message) > MAX_CHARS:
        return None
    path = _PATH.search(message)
    message_words = split_words(_PATH.sub(" ", message))
    ending = next((_FORMATS[word] for word in message_words if word in _FORMATS), None)
    verbs = {word for word in message_words if word in _MAKES_FILES | _KEEPS}
    others = [word for word in message_words if word not in verbs | _SILENT and word not in _FORMATS]
    if not _means_file(message_words, bool(ending), bool(path)) and not (
        verbs & _SAVES and not others and _is_answer_last(earlier)
    ):
        return None
    if others:
        table = next((name for name in tables if split_words(name) == others), None)
        # A table is asked for by its name where nothing else is: `download orders`.
        if table is None:
            return None
        quoted = table.replace('"', '""')
        return TableExport(f'SELECT * FROM "{quoted}"', _name(path, table, ending, files))  # noqa: S608 - quoted
    last = next((turn for turn in reversed(earlier) if turn.has_result), None)
    if last is None:
        return ExportRefusal("There is no answer to save yet. Ask a question first, or name a table.")
    if last.sql is None or last.changed:
        return ExportRefusal(
            "The last answer came from a program or changed tables. A program saves its own files, as in "
            "`PYTHON: result.to_csv('result.csv')`; or name a table."
        )
    return TableExport(last.sql, _name(path, "_".join(last.columns) or "answer", ending, files))


def _means_file(words: Sequence[str], has_format: bool, has_path: bool) -> bool:
    """Test for words that mean a file: a verb of files, or a format, a name or the noun `file`."""
    used = set(words)
    if used & _MAKES_FILES:
        return True
    if has_path:
        return bool(used & _KEEPS)
    # `an excel sheet` alone asks for one, too.
    return has_format or bool(used & _FILE_NOUNS and used & (_KEEPS | _LEADS_TO_FORM))


def _is_answer_last(earlier: Sequence[EarlierTurn]) -> bool:
    """Test that the last turn has rows: `save it` behind a workflow or a study means that."""
    return bool(earlier) and earlier[-1].has_result and earlier[-1].workflow is None


MAX_STEM_CHARS = 60
"""Characters of a name that is made of columns."""


def _name(path: re.Match[str] | None, stem: str, ending: str | None, files: Collection[str]) -> str:
    """The name that the message says, else one that is free."""
    if path:
        return path["path"]
    plain = re.sub(r"\W+", "_", stem.casefold())[:MAX_STEM_CHARS].strip("_") or "answer"
    used = {name.casefold() for name in files}
    names = [plain, *(f"{plain}_{number}" for number in range(2, len(used) + 3))]
    return next(f"{name}{ending or '.csv'}" for name in names if f"{name}{ending or '.csv'}" not in used)
