"""Patterns of LIKE for the words of a search."""


def like_patterns(words: str) -> list[str]:
    """Return a pattern for each word, which stands for itself wherever it occurs."""
    # Column names have underscores, which LIKE would take for any character.
    escaped = words.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return [f"%{word}%" for word in escaped.split()]
