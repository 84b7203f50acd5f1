"""Units and currencies before or after numbers, and their factors."""

from collections.abc import Collection, Mapping, Sequence

from app.modeling.type_inference.vocabulary import split_words

CURRENCIES = split_words(
    "$|€|£|¥|₹|₩|₽|฿|r$|us$|a$|c$|hk$|usd|eur|gbp|jpy|chf|cny|inr|cad|aud|sek|nok|dkk|pln|czk|brl|krw|rub|rs|rs."
    "|kr|kr.|zł|fr.|euro|euros|dollar|dollars|tl|try|zar|mxn"
)
SAME_CURRENCY = tuple(
    split_words(words.replace(" ", "|"))
    for words in ("$ us$ usd dollar dollars", "€ eur euro euros", "£ gbp", "₹ inr rs rs.", "kr kr. sek nok dkk")
)
MAGNITUDES: dict[str, float] = {
    **dict.fromkeys(("k", "tsd", "tsd.", "thousand"), 1e3),
    **dict.fromkeys(("m", "mm", "mn", "mio", "mio.", "mln", "million", "millions", "millionen"), 1e6),
    **dict.fromkeys(("b", "bn", "mrd", "mrd.", "billion", "billions"), 1e9),
    **dict.fromkeys(("tn", "trillion"), 1e12),
}
UNIT_FAMILIES: tuple[dict[str, float], ...] = (
    {"%": 1.0, "percent": 1.0, "pct": 1.0, "prozent": 1.0},
    {"mg": 1e-6, "g": 1e-3, "kg": 1.0, "t": 1e3},
    {"lb": 1.0, "lbs": 1.0, "oz": 1 / 16},
    {"mm": 1e-3, "cm": 1e-2, "m": 1.0, "km": 1e3},
    {"in": 1 / 12, "inch": 1 / 12, "inches": 1 / 12, "ft": 1.0, "feet": 1.0, "mi": 5280.0, "miles": 5280.0},
    {"ml": 1e-3, "cl": 1e-2, "l": 1.0},
    {
        **{"ms": 1e-3, "s": 1.0, "sec": 1.0, "secs": 1.0, "second": 1.0, "seconds": 1.0},
        **{"min": 60.0, "mins": 60.0, "minute": 60.0, "minutes": 60.0},
        **{"h": 3600.0, "hr": 3600.0, "hrs": 3600.0, "hour": 3600.0, "hours": 3600.0},
        **{"d": 86400.0, "day": 86400.0, "days": 86400.0, "week": 604800.0, "weeks": 604800.0},
    },
    {"week": 1.0, "weeks": 1.0, "wk": 1.0, "wks": 1.0},
    {"month": 1.0, "months": 1.0, "mo": 1.0, "year": 12.0, "years": 12.0, "yr": 12.0, "yrs": 12.0},
    {"kb": 1.0, "mb": 1024.0, "gb": 1048576.0, "tb": 1073741824.0},
    {"w": 1.0, "kw": 1e3, "mw": 1e6},
    {"hz": 1.0, "khz": 1e3, "mhz": 1e6, "ghz": 1e9},
    {"+": 1.0},
)
ORDINALS = split_words("st|nd|rd|th|er|º|ª")


def resolve_prefixes(affixes: Mapping[str, int]) -> tuple[dict[str, float], str] | None:
    """Resolve words before numbers (word -> count): factors, and the one currency that they name.

    None for other words, or for several currencies.
    """
    words = [word for word in affixes if word]
    unit = _currency(words)
    return None if unit is None else (dict.fromkeys(words, 1.0), unit)


def resolve_suffixes(affixes: Mapping[str, int], spaced: bool) -> tuple[dict[str, float], str] | None:
    """Resolve words after numbers (word -> count): factors to the most frequent unit, and its name.

    An unknown word must be the only one. None if the words are not units of one quantity.
    """
    words = sorted((word for word in affixes if word), key=lambda word: -affixes[word])
    if not words:
        return {}, ""
    currency = _currency(words)
    if currency is not None:
        return dict.fromkeys(words, 1.0), currency
    if set(words) <= MAGNITUDES.keys() and (len(words) > 1 or "" in affixes or words[0] != "m"):
        return {word: MAGNITUDES[word] for word in words}, ""
    for family in UNIT_FAMILIES:
        if set(words) <= family.keys():
            return {word: family[word] / family[words[0]] for word in words}, words[0]
    stems = {word.rstrip(".s") for word in words}
    if len(stems) == 1 and words[0] not in ORDINALS and (spaced or len(words[0]) > 1):
        return dict.fromkeys(words, 1.0), words[0]
    return None


def synonyms(words: Collection[str], others: Sequence[str]) -> dict[str, float]:
    """The words that name the one currency of all `others` words, with the factor 1."""
    if not others or _currency(list(others)) is None:
        return {}
    return {word: 1.0 for word in sorted(words) if _currency([*others, word]) is not None}


def _currency(words: list[str]) -> str | None:
    """The one currency of all words ("" for no words); None for another word, or for two currencies."""
    if not words:
        return ""
    if not set(words) <= CURRENCIES:
        return None
    same = [group for group in SAME_CURRENCY if set(words) <= group]
    return words[0] if len(set(words)) == 1 or same else None
