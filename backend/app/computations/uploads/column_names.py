"""Repair of column names: unique, printable and short."""

import re
from collections.abc import Sequence

from app.errors import TooLarge

MAX_COLUMNS = 4096
"""Columns of a table. DuckDB's writer has a buffer for each: 10,000 exceed the memory of a cell."""
_MAX_LENGTH = 120
"""Characters of a column name, so that lists of columns stay legible."""
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\u200b-\u200f\u2028-\u202e\u2060\ufeff]+")


def check_width(columns: int, at_least: bool = False) -> None:
    """Raise TooLarge for more than MAX_COLUMNS; `at_least`: counting stopped early, there may be more."""
    if columns > MAX_COLUMNS:
        count = f"at least {columns:,}" if at_least else f"{columns:,}"
        raise TooLarge(
            "too_many_columns",
            f"The table has {count} columns; at most {MAX_COLUMNS:,} are read.",
            columns=columns,
            limit=MAX_COLUMNS,
        )


def mend_names(raw: Sequence[str]) -> tuple[list[str], list[str]]:
    """Repair names; return them in order, with notes. Names that differ in case only count as equal.

    Raises TooLarge for more than MAX_COLUMNS.
    """
    check_width(len(raw))
    names: list[str] = []
    notes: list[str] = []
    # A made name must not take one that a later column has.
    reserved = {_printable(name).casefold() for name in raw}
    used: set[str] = set()
    for position, name in enumerate(raw, start=1):
        printable = _printable(name)
        mended = printable or _free(f"column_{position}", reserved)
        if mended.casefold() in used:
            mended = _free(mended, reserved)
        if not printable:
            notes.append(f"Column {position} has no name; it is called {mended}.")
        elif mended != printable:
            notes.append(f"A second column called {printable} is called {mended}.")
        used.add(mended.casefold())
        reserved.add(mended.casefold())
        names.append(mended)
    return names, notes


def _printable(name: str) -> str:
    return _UNPRINTABLE.sub(" ", name).strip()[:_MAX_LENGTH].strip()


def _free(name: str, reserved: set[str]) -> str:
    if name.casefold() not in reserved:
        return name
    n = 2
    while f"{name}_{n}".casefold() in reserved:
        n += 1
    return f"{name}_{n}"
