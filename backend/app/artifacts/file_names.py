"""Names of a session's files. A name is no path: files are rows."""

import unicodedata

from app.errors import ToolRefused

MAX_NAME_CHARS = 120
"""Characters of a name, which lists show on one line."""
_SEPARATORS = "/\\:"


def normalize_file_name(name: str) -> str:
    """Return the name in normal form NFC. Raises ToolRefused for a name that resembles a path."""
    normalized = unicodedata.normalize("NFC", name)
    problem = find_name_problem(normalized)
    if problem:
        raise ToolRefused(f"{name!r} cannot be a file's name: {problem}. Use a name such as notes.md.")
    return normalized


def find_name_problem(name: str) -> str | None:
    """Return why a text cannot be the name of a file; None if it can."""
    folded = unicodedata.normalize("NFKC", name)  # characters that look like a slash or a dot count as one
    if not name or len(name) > MAX_NAME_CHARS:
        return f"it must have 1 to {MAX_NAME_CHARS} characters"
    if any(separator in folded for separator in _SEPARATORS):
        return "it must not contain a path"
    if folded.startswith((".", " ")) or folded.endswith((".", " ")):
        return "it must not begin or end with a dot or a space"
    if any(unicodedata.category(char)[0] == "C" for char in name):
        return "it contains an invisible character"
    return None
