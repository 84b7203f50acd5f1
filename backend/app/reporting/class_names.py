"""Names of classes that say no more than yes or no: what they mean is the name of their column."""

from collections.abc import Sequence

TRUTHS = frozenset({"1", "true", "yes", "y", "t", "ja", "oui", "si", "sim"})
"""Values of a class that say no more than the name of its column."""
FALSEHOODS = frozenset({"0", "false", "no", "n", "f", "nein", "non", "não"})
"""Values of the class beside one of `TRUTHS`."""


def is_true(value: object) -> bool:
    """Test for a class that says no more than yes; a flag is 1.0 where some of its cells are missing."""
    return _spell(value) in TRUTHS


def are_flags(values: Sequence[object]) -> bool:
    """Test for two classes that say no more than yes and no."""
    # Of more classes a 0 or 1 is a number among others.
    spellings = [_spell(value) for value in values]
    return len(values) == 2 and all(text in TRUTHS | FALSEHOODS for text in spellings)


def name_classes(values: Sequence[object], target: str) -> list[str]:
    """Return two flags with their meaning, `1: survived` and `0: not survived`; other classes as they are."""
    if not are_flags(values):
        return [str(value) for value in values]
    return [f"{value}: {'' if is_true(value) else 'not '}{target}" for value in values]


def _spell(value: object) -> str:
    return str(value).casefold().removesuffix(".0")
