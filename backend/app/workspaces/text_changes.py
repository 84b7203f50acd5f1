"""Changes of text files, and their differences as people read them. Pure."""

import difflib
from typing import NamedTuple

from app.errors import ToolRefused

MAX_DIFF_CHARS = 20_000
"""Characters of a difference that is shown: a few hundred lines."""


class TextDiff(NamedTuple):
    """A unified diff. `added`, `removed`: its lines. `left_out`: characters beyond MAX_DIFF_CHARS."""

    text: str
    added: int
    removed: int
    left_out: int


def replace_text(name: str, before: str, old: str, new: str, every: bool) -> str:
    """Replace a text that occurs once, or everywhere. Raises ToolRefused with the number of its places."""
    occurrences = before.count(old)
    if occurrences == 0:
        raise ToolRefused(f"{name} does not contain that text. Read it again: it must match exactly.")
    # Replacing the first one would be a guess.
    if occurrences > 1 and not every:
        raise ToolRefused(f"{name} holds that text {occurrences} times. Include more context, or set `every`.")
    return before.replace(old, new)


def unified_diff(name: str, before: str, after: str) -> str:
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), f"{name} (now)", f"{name} (after)", lineterm=""
    )
    return "\n".join(lines)


def describe_change(name: str, before: str, after: str) -> TextDiff:
    """Return the difference of two texts, cut at MAX_DIFF_CHARS."""
    text = unified_diff(name, before, after)
    body = text.splitlines()[2:]  # after the two names
    return TextDiff(
        text[:MAX_DIFF_CHARS],
        sum(line.startswith("+") for line in body),
        sum(line.startswith("-") for line in body),
        max(0, len(text) - MAX_DIFF_CHARS),
    )
