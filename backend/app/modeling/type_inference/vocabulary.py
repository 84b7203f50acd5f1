"""Words for missing values, for yes and for no, in several languages.

The only table of such words: uploads derive their SQL from it, so the module imports no science library.
"""

from collections.abc import Iterable


def split_words(text: str) -> frozenset[str]:
    """Split a text at bars into trimmed words."""
    return frozenset(part.strip() for part in text.split("|"))


NULL_TOKENS = ("", "NA", "N/A", "n/a", "NULL", "null", "NaN", "nan", "#N/A", "<NA>")
"""Cells of a text file that are missing in every column, as in pandas and R. Their case counts: `Nan` is a
name, and `Na` an element."""

MISSING_CATEGORY_WORDS = frozenset(token.casefold() for token in NULL_TOKENS) | split_words(
    "?|??|-|--|---|.|..|...|n.a.|n.a|(null)|#null!|nil|not available|no data|tbd|k.a.|keine angabe"
)
"""Missing-value words even in a column of categories."""

MISSING_WORDS = MISSING_CATEGORY_WORDS | split_words(
    "none|missing|unknown|unk|unbekannt|inconnu|desconocido|nd|n.d.|not known|not applicable|not reported"
    "|undefined|#value!|#div/0!|#ref!|#num!|x|*|**"
)
"""Missing-value words among numbers, dates or booleans; in a column of categories some are classes."""


def is_missing_word(cell: str) -> bool:
    """Test whether a cell of a column of numbers, dates or booleans means a missing value."""
    return cell.strip().casefold() in MISSING_WORDS


_YES = split_words("true|t|yes|y|ja|j|oui|si|sí|sim|on|1|1.0")
_NO = split_words("false|f|no|n|nein|non|não|nao|off|0|0.0")
TRUTH_VALUES: dict[str, bool] = dict.fromkeys(_YES, True) | dict.fromkeys(_NO, False)
TRUTH_PAIRS: tuple[frozenset[str], ...] = tuple(
    frozenset(pair.split())
    for pair in split_words(
        "true false|t f|yes no|y n|ja nein|j n|oui non|si no|sí no|sim não|sim nao|on off|1 0|1.0 0.0"
    )
)


def are_truth_values(values: Iterable[str]) -> bool:
    """Test whether all values are words for yes or no, each in a pair (yes and no, 1 and 0) that occurs in
    full."""
    words = {value.casefold() for value in values}
    complete_pairs = [pair for pair in TRUTH_PAIRS if pair <= words]
    return bool(complete_pairs) and words <= frozenset().union(*complete_pairs)
