"""Ids as people type them: the whole of one, its beginning, or `last` for the newest."""

from collections.abc import Callable, Sequence

from app.errors import InvalidInput, NotFound

LAST = "last"
"""Stands for the newest session or conversation wherever a command takes one."""
UUID_LENGTH = 36
"""Characters of a whole id; anything shorter is the beginning of one."""


def find_id(text: str, list_newest: Callable[[], Sequence[str]], noun: str, hint: str) -> str:
    """Return the id that is meant by an id, the beginning of one, or `last`.

    `list_newest`: ids of one page, the newest first. Raises NotFound if none matches, with the hint where to
    find one, and InvalidInput if several begin so.
    """
    # A whole id is not looked up, so that those older than the newest page can be named.
    if len(text) >= UUID_LENGTH:
        return text
    # One page: a person means a recent one by the beginning of an id, and can give the whole of another.
    newest = list_newest()
    if not newest:
        raise NotFound(f"no_such_{noun}", f"There is no {noun} yet.")
    if text == LAST:
        return newest[0]
    matches = [name for name in newest if name.startswith(text.casefold())]
    if not matches:
        raise NotFound(f"no_such_{noun}", f"No {noun} begins with {text}. {hint}")
    if len(matches) > 1:
        raise InvalidInput(
            f"ambiguous_{noun}", f"{len(matches)} {noun}s begin with {text}. Give more of the id."
        )
    return matches[0]
