"""Names of columns that begin with a denial: `no_show`."""

from collections.abc import Sequence

from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words


def has_denial(name: str, texts: Sequence[str]) -> bool:
    """Tell if a denial before a noun is that of a name: `no shows` of `no_show`, or of `is_no_show`."""
    return words(name)[0] == texts[0] or has_words(name, texts)


def has_words(name: str, texts: Sequence[str]) -> bool:
    """Tell if a name has the words of a phrase in their order, in the singular or plural."""
    parts, stems = [*map(stem, words(name))], [*map(stem, texts)]
    return any(parts[start : start + len(stems)] == stems for start in range(len(parts)))
