"""What a file of a session may be called. A name is no path: files are rows."""

import unicodedata

from app.errors import ToolRefused

MAX_NAME_CHARS = 120
_SEPARATORS = "/\\:"


def normalize_file_name(name: str) -> str:
    """The name in normal form (NFC); raises ToolRefused for what could be taken for another place or name."""
    plain = unicodedata.normalize("NFC", name)
    reason = _find_problem(plain)
    if reason:
        raise ToolRefused(f"{name!r} cannot be a file's name: {reason}. A plain name such as notes.md will do.")
    return plain


def _find_problem(name: str) -> str | None:
    folded = unicodedata.normalize("NFKC", name)  # what looks like a slash or a dot counts as one
    if not name or len(name) > MAX_NAME_CHARS:
        return f"it must have 1 to {MAX_NAME_CHARS} characters"
    if any(sign in folded for sign in _SEPARATORS):
        return "files stand in no folders"
    if folded.startswith((".", " ")) or folded.endswith((".", " ")):
        return "it must not begin or end with a dot or a space"
    if any(unicodedata.category(sign)[0] == "C" for sign in name):
        return "it holds a character that is not shown"
    return None
