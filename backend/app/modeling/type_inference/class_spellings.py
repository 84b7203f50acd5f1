"""Classes with several spellings, such as `Yes`, `yes ` and `YES`."""

from collections.abc import Mapping

from app.modeling.type_inference.vocabulary import (
    MISSING_WORDS,
    NON_ANSWERS,
    TRUTH_PAIRS,
    TRUTH_VALUES,
    are_truth_values,
)

MAX_CLASSES = 200
"""More distinct values are names and no classes."""
MIN_ROWS_EACH = 2.0
"""Mean rows per class: values that hardly repeat are names and no classes."""
MAX_SHORT_CHARS = 2
"""Characters of the words in which another spelling may well be another word."""
MAX_RARE_SHARE = 0.25
"""In words of at most MAX_SHORT_CHARS, other spellings up to this share of the class are typing errors; more
frequent ones may be classes of their own, such as `co` and `CO`."""


def fold_spelling(text: str) -> str:
    """Normalise a spelling: lower case, single spaces."""
    return " ".join(text.split()).casefold()


def count_spellings(counts: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Group counts of raw values by class: folded class -> spelling with single spaces -> rows."""
    counts_by_class: dict[str, dict[str, int]] = {}
    for text, count in counts.items():
        spellings = counts_by_class.setdefault(fold_spelling(text), {})
        trimmed = " ".join(text.split())
        spellings[trimmed] = spellings.get(trimmed, 0) + count
    return counts_by_class


def most_frequent_spellings(counts_by_class: Mapping[str, Mapping[str, int]]) -> dict[str, str]:
    """Choose the most frequent spelling of each class, the first one of equals."""
    return {
        name: max(spellings, key=lambda spelling: spellings[spelling])
        for name, spellings in counts_by_class.items()
    }


def canonical_spellings(counts: Mapping[str, int]) -> dict[str, str]:
    """Choose one spelling for each class from counts of raw values: folded class -> most frequent spelling.

    Empty if all classes have one spelling, if there are too many values to be classes, or if a short word is
    about as frequent in two spellings.
    """
    counts_by_class = count_spellings(counts)
    if len(counts_by_class) > MAX_CLASSES or sum(counts.values()) < MIN_ROWS_EACH * len(counts_by_class):
        return {}
    best = _with_two_truth_words(most_frequent_spellings(counts_by_class))
    if all(text == best[fold_spelling(text)] for text in counts):
        return {}
    return {} if _may_differ(counts_by_class) else best


def _with_two_truth_words(best: Mapping[str, str]) -> dict[str, str]:
    """Choose one word for yes and one for no where a column has several: `Yes` and `No` beside `y` and `n`.

    `best`: folded class -> its most frequent spelling.
    """
    words = [name for name in best if name not in NON_ANSWERS | MISSING_WORDS]
    if len(words) <= 2 or not are_truth_values(words):
        return dict(best)
    # The pair with the longest words needs the least explanation.
    pair = max((pair for pair in TRUTH_PAIRS if pair <= set(words)), key=lambda pair: sum(map(len, pair)))
    word_of = {TRUTH_VALUES[name]: best[name] for name in pair}
    return {name: word_of[TRUTH_VALUES[name]] if name in words else text for name, text in best.items()}


def _may_differ(counts_by_class: Mapping[str, Mapping[str, int]]) -> bool:
    """Test whether upper and lower case may be different classes: only short words have several spellings, some
    of them frequent, and the words are not yes and no."""
    several = {name: spellings for name, spellings in counts_by_class.items() if len(spellings) > 1}
    # One longer word in several spellings shows that the file does not keep to one case.
    if are_truth_values(counts_by_class) or any(len(name) > MAX_SHORT_CHARS for name in several):
        return False
    return any(
        sum(spellings.values()) - max(spellings.values()) > MAX_RARE_SHARE * sum(spellings.values())
        for spellings in several.values()
    )
