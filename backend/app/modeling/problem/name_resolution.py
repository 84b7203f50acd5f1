"""Resolution of names of columns, files and the like, with suggestions for unknown ones."""

from collections.abc import Iterable
from difflib import get_close_matches

from app.errors import ToolRefused


def nearest_names(name: str, names: Iterable[str], max_names: int = 3) -> list[str]:
    """Up to `max_names` of `names` that are spelled like `name`, best first, case ignored."""
    by_folded = {candidate.casefold(): candidate for candidate in names}
    matches = get_close_matches(name.casefold(), by_folded, n=max_names, cutoff=0.5)
    return [by_folded[folded] for folded in matches]


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
    hint = f"Did you mean {', '.join(close)}?" if close else f"There are: {', '.join(names[:30]) or 'none'}."
    kind = "unknown_tool" if noun == "tool" else "not_found"
    raise ToolRefused(f"There is no {noun} {name!r}. {hint}", kind=kind, nearest=close)
