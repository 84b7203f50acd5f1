"""What a file of a session may be called. A name is no path: files are rows."""

import unicodedata

from app.errors import ToolRefused

LONGEST = 120
_SEPARATORS = "/\\:"


def checked_name(name: str) -> str:
    """The name in normal form (NFC); raises ToolRefused for what could be taken for another place or name."""
    plain = unicodedata.normalize("NFC", name)
    reason = _wrong(plain)
    if reason:
        raise ToolRefused(f"{name!r} cannot be a file's name: {reason}. A plain name such as notes.md will do.")
    return plain


def _wrong(name: str) -> str | None:
    folded = unicodedata.normalize("NFKC", name)  # what looks like a slash or a dot counts as one
    if not name or len(name) > LONGEST:
        return f"it must have 1 to {LONGEST} characters"
    if any(sign in folded for sign in _SEPARATORS):
        return "files stand in no folders"
    if folded.startswith((".", " ")) or folded.endswith((".", " ")):
        return "it must not begin or end with a dot or a space"
    if any(unicodedata.category(sign)[0] == "C" for sign in name):
        return "it holds a character that is not shown"
    return None
