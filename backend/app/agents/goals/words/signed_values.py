"""Values that only signs tell apart, such as the blood groups `O-` and `O+`, or `C` and `C++`."""

import re
from collections.abc import Sequence

from app.agents.goals.words.stemming import stems


def find_twins(value: object, values: Sequence[object]) -> list[object]:
    """Return the others of `values` that have the same words, so that only signs tell them apart."""
    own, spelling = stems(str(value)), str(value).casefold()
    return [other for other in values if stems(str(other)) == own and str(other).casefold() != spelling]


def is_meant(text: str, value: object, values: Sequence[object]) -> bool:
    """Test if a text that holds the words of a value means it and not a twin: the one that it spells, or all
    of them ("group O") if it spells none."""
    twins = find_twins(value, values)
    return not twins or is_spelled(text, value) or not any(is_spelled(text, twin) for twin in twins)


def is_spelled(text: str, value: object) -> bool:
    """Test if a text holds a value with its signs: `O+` is neither `O` nor `O-`."""
    spelling = str(value)
    before = r"(?<!\w)" if spelling[:1].isalnum() else ""
    # A sentence may go on behind a word, but not with a sign that belongs to another value.
    behind = r"(?![\w+#*/-])" if spelling[-1:].isalnum() else r"(?!\w)"
    return re.search(before + re.escape(spelling) + behind, text, re.IGNORECASE) is not None
