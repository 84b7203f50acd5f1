"""Words that stand for missing, for yes and for no, in any spelling."""

from collections.abc import Iterable


def listed(text: str) -> frozenset[str]:
    """The parts of a text that bars set apart, trimmed."""
    return frozenset(part.strip() for part in text.split("|"))


MISSING = listed(
    "|?|??|-|--|---|.|..|...|n/a|#n/a|na|<na>|n.a.|n.a|null|(null)|#null!|nan|nil|not available|no data|tbd"
    "|k.a.|keine angabe"
)
"""Missing in a column of categories too."""

MISSING_MEASURES = MISSING | listed(
    "none|missing|unknown|unk|unbekannt|inconnu|desconocido|nd|n.d.|not known|not applicable|not reported"
    "|undefined|#value!|#div/0!|#ref!|#num!|x|*|**"
)
"""Missing where all else is a number, a date or a boolean: as a category such a word says something."""

_YES = listed("true|t|yes|y|ja|j|oui|si|sí|sim|on|1|1.0")
_NO = listed("false|f|no|n|nein|non|não|nao|off|0|0.0")
TRUTH: dict[str, bool] = dict.fromkeys(_YES, True) | dict.fromkeys(_NO, False)
PAIRS: tuple[frozenset[str], ...] = tuple(
    frozenset(pair.split())
    for pair in listed(
        "true false|t f|yes no|y n|ja nein|j n|oui non|si no|sí no|sim não|sim nao|on off|1 0|1.0 0.0"
    )
)


def is_truth(values: Iterable[str]) -> bool:
    """Do these values say yes and no? Each must belong to a pair of which both words are there."""
    said = {value.casefold() for value in values}
    whole = [pair for pair in PAIRS if pair <= said]
    return bool(whole) and said <= frozenset().union(*whole)
