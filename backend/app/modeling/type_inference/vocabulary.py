"""Words for missing values, for yes and for no, in several languages.

The only table of such words: uploads derive their SQL from it, so the module imports no science library.
"""

from collections.abc import Iterable


def split_words(text: str) -> frozenset[str]:
    """Split a text at bars into trimmed words."""
    return frozenset(part.strip() for part in text.split("|"))


OTHER_MARKS = {
    **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u200a\u202f", " "),
    **dict.fromkeys("\u2212\u2010\u2011\u2012\u2013\uff0d", "-"),
    **dict.fromkeys("\u2019\u02bc\u00b4\u2032", "'"),
    **dict.fromkeys("\u2033\u201d", '"'),
}
"""Spaces, minus signs, apostrophes and quotes of typography -> those of ASCII."""

NULL_TOKENS = ("", "NA", "N/A", "n/a", "NULL", "null", "NaN", "nan", "#N/A", "<NA>")
"""Cells of a text file that are missing in every column, as in pandas and R. Their case counts: `Nan` is a
name, and `Na` an element."""

MISSING_CATEGORY_WORDS = frozenset(token.casefold() for token in NULL_TOKENS) | split_words(
    "?|??|-|--|---|.|..|...|\u2026|\u2013|\u2014|\u2015|n.a.|n.a|(null)|#null!|nil|not available|no data"
    "|tbd|tba|k.a.|k. a.|keine angabe|keine angaben|ohne angabe|n.c.|n.v.|n.d.|s/d|sin dato|sin datos"
    "|non disponible|nicht verf\u00fcgbar|not stated|not recorded|not disclosed|undisclosed|(x)|(na)"
    "|(n/a)|[na]|[n/a]|\\n|#null"
)
"""Missing-value words even in a column of categories."""

MISSING_WORDS = MISSING_CATEGORY_WORDS | split_words(
    "none|missing|unknown|unk|unbekannt|inconnu|desconocido|nd|n.d.|not known|not applicable|not reported"
    "|undefined|#value!|#div/0!|#ref!|#num!|#name?|x|*|**|***|:|(d)|(s)|(z)|(c)|n.m.|n.m|nm|nc|n.s.|n/d"
    "|n/k|s.o.|-/-|-.-|xx|refused|don't know|dont know|do not know|no answer|no response"
    "|prefer not to say|prefer not to answer|keine antwort|ns/nc|ne sait pas|withheld|suppressed"
    "|confidential|redacted|not specified|unspecified|not given|on request|auf anfrage|sur demande"
    "|a consultar|not tested|not measured|pending|error|invalid|void"
)
"""Missing-value words among numbers, dates or booleans; in a column of categories some are classes."""


NON_ANSWERS = split_words("u|dk|d/k|n/s|unsure|not sure|maybe|inconclusive")
"""Words beside yes and no that are neither, in lower case, besides MISSING_WORDS."""

NULL_DATES = split_words(
    "0000-00-00|0000-00-00 00:00:00|0000-00-00t00:00:00|00/00/0000|00.00.0000|00-00-0000|00/00/00|00.00.00"
    "|0/0/0000|--/--/----|__/__/____|9999-12-31|9999-12-31 00:00:00|9999-12-31 23:59:59|31/12/9999"
    "|31.12.9999|12/31/9999"
)
"""Dates that mean none, in lower case. They are missing among dates only, no reader of numbers knows them."""

ZERO_WORDS: dict[str, str] = {
    **dict.fromkeys(("-", "--"), "parentheses"),
    **dict.fromkeys(("tie", "tied", "even", "unch", "unch.", "unchanged", "level"), "signs"),
    **dict.fromkeys(("none", "zero", "keine", "keins", "aucun", "ninguno"), "counts"),
    **dict.fromkeys(("free", "gratis", "kostenlos", "gratuit", "nil"), "money"),
    **dict.fromkeys(("trace", "traces"), "quantities"),
}
"""Words for 0 -> trait of the column's other numbers (`number_format.number_traits`) in which they mean it.
A dash is 0 in the accounting format, which has parentheses round negative numbers."""


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
