"""One class in several spellings: `Yes`, `yes ` and `YES`."""

from collections.abc import Mapping

from app.modeling.type_inference.vocabulary import is_truth

MAX_CLASSES = 200
MIN_ROWS_EACH = 2.0
"""Rows a class on average: what hardly repeats is a name, and no class."""
SHORT = 2
RARE = 0.25
"""Share of a class up to which another spelling of so short a word is a slip: `co` and `CO` may be two."""


def folded(text: str) -> str:
    """What spellings of one class have in common: their letters in lower case, words one space apart."""
    return " ".join(text.split()).casefold()


def same_classes(counts: Mapping[str, int]) -> dict[str, str]:
    """From raw values -> how often: every class folded -> its most frequent spelling, trimmed; or nothing.

    Nothing where all classes have one spelling, where values are too many to be classes, or where a short word
    is about as frequent in two.
    """
    spelled: dict[str, dict[str, int]] = {}
    for text, count in counts.items():
        ways = spelled.setdefault(folded(text), {})
        trimmed = " ".join(text.split())
        ways[trimmed] = ways.get(trimmed, 0) + count
    if len(spelled) > MAX_CLASSES or sum(counts.values()) < MIN_ROWS_EACH * len(spelled):
        return {}
    best = {name: max(ways, key=lambda way: ways[way]) for name, ways in spelled.items()}
    if all(text == best[folded(text)] for text in counts):
        return {}
    return {} if _may_differ(spelled) else best


def _may_differ(spelled: Mapping[str, Mapping[str, int]]) -> bool:
    """Whether letters in upper and lower case may be two things: where only short words have several spellings,
    none of them rare, and they do not say yes and no."""
    several = {name: ways for name, ways in spelled.items() if len(ways) > 1}
    if is_truth(spelled) or any(len(name) > SHORT for name in several):
        return False
    return any(sum(ways.values()) - max(ways.values()) > RARE * sum(ways.values()) for ways in several.values())
