"""Column names that are unique, printable and short, and what had to change."""

import re
from collections.abc import Sequence

from app.errors import TooLarge

MAX_COLUMNS = 4096
"""Of a table. Every column has a buffer in DuckDB's writer: 10,000 do not fit into the memory of a cell."""
_MAX_LENGTH = 120
"""Characters of a column name, so that lists of columns stay legible."""
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\u200b-\u200f\u2028-\u202e\u2060\ufeff]+")


def check_width(columns: int, at_least: bool = False) -> None:
    """Raise TooLarge over MAX_COLUMNS; `at_least`: only so many were counted and there may be more."""
    if columns > MAX_COLUMNS:
        count = f"at least {columns:,}" if at_least else f"{columns:,}"
        raise TooLarge(
            "too_many_columns",
            f"The table has {count} columns; at most {MAX_COLUMNS:,} are read.",
            columns=columns,
            limit=MAX_COLUMNS,
        )


def mend_names(raw: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names in order and notes; case alone tells no columns apart. Raises TooLarge over MAX_COLUMNS."""
    check_width(len(raw))
    names: list[str] = []
    notes: list[str] = []
    taken = {_printable(name).casefold() for name in raw}
    seen: set[str] = set()
    for position, name in enumerate(raw, start=1):
        wanted = _printable(name)
        mended = wanted or _free(f"column_{position}", taken)
        if mended.casefold() in seen:
            mended = _free(mended, taken)
        if not wanted:
            notes.append(f"Column {position} has no name; it is called {mended}.")
        elif mended != wanted:
            notes.append(f"A second column called {wanted} is called {mended}.")
        seen.add(mended.casefold())
        taken.add(mended.casefold())
        names.append(mended)
    return names, notes


def _printable(name: str) -> str:
    return _UNPRINTABLE.sub(" ", name).strip()[:_MAX_LENGTH].strip()


def _free(name: str, taken: set[str]) -> str:
    if name.casefold() not in taken:
        return name
    n = 2
    while f"{name}_{n}".casefold() in taken:
        n += 1
    return f"{name}_{n}"
