"""Column names that are unique, printable and short, and what had to change."""

import re
from collections.abc import Sequence

from app.errors import TooLarge

MAX_COLUMNS = 4096
_MAX_LENGTH = 120
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\u200b-\u200f\u2028-\u202e\u2060\ufeff]+")


def mend_names(raw: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names in order and notes; case alone tells no columns apart. Raises TooLarge over MAX_COLUMNS."""
    if len(raw) > MAX_COLUMNS:
        raise TooLarge(
            "too_many_columns",
            f"The table has {len(raw):,} columns; at most {MAX_COLUMNS:,} are read.",
            columns=len(raw),
            limit=MAX_COLUMNS,
        )
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
