"""Resolution of names of columns, files and the like, with suggestions for unknown ones."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from itertools import islice

from app.errors import ToolRefused

MAX_LISTED_NAMES = 30
"""Names in a message: enough to find the right one, of a table of thousands of columns."""


def nearest_names(name: str, names: Iterable[str], max_names: int = 3) -> list[str]:
    """Up to `max_names` of `names` that are spelled like `name`, best first, case ignored."""
    by_folded = {candidate.casefold(): candidate for candidate in names}
    matches = get_close_matches(name.casefold(), by_folded, n=max_names, cutoff=0.5)
    return [by_folded[folded] for folded in matches]


def hint_names(close: Collection[str], names: Collection[str]) -> str:
    """Return a sentence with the nearest names to an unknown one, else with the first of all names."""
    if close:
        return f"Did you mean {', '.join(close)}?"
    return f"There are: {', '.join(islice(names, MAX_LISTED_NAMES))}." if names else "There are none."


def resolve_name(name: str, names: Iterable[str], noun: str) -> str:
    """The entry of `names` that equals `name`, case ignored. Raises ToolRefused with the nearest names."""
    names = list(names)
    if name in names:
        return name
    # Of names that differ in case only, none is taken without the case.
    folded = [candidate for candidate in names if candidate.casefold() == name.casefold()]
    if len(folded) == 1:
        return folded[0]
    close = nearest_names(name, names)
    kind = "unknown_tool" if noun == "tool" else "not_found"
    raise ToolRefused(f"There is no {noun} {name!r}. {hint_names(close, names)}", kind=kind, nearest=close)
