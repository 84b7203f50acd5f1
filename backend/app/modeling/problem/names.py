"""Name the nearest names when one is not known."""

from collections.abc import Iterable
from difflib import get_close_matches

from app.errors import ToolRefused


def nearest_names(name: str, names: Iterable[str], max_names: int = 3) -> list[str]:
    """Up to `most` of the known names that look like `name`, best first; case does not matter."""
    by_folded = {candidate.casefold(): candidate for candidate in names}
    found = get_close_matches(name.casefold(), by_folded, n=max_names, cutoff=0.5)
    return [by_folded[folded] for folded in found]


def resolve_name(name: str, names: Iterable[str], noun: str) -> str:
    """The name as it is known (case forgiven); raises ToolRefused with the nearest names."""
    names = list(names)
    if name in names:
        return name
    folded = [candidate for candidate in names if candidate.casefold() == name.casefold()]
    if len(folded) == 1:
        return folded[0]
    close = nearest_names(name, names)
    hint = f"Did you mean {', '.join(close)}?" if close else f"There are: {', '.join(names[:30]) or 'none'}."
    raise ToolRefused(f"There is no {noun} {name!r}. {hint}")
