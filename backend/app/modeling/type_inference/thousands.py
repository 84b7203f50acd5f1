"""Evidence that a mark such as the point of `25.445` separates thousands, where no number proves it."""

import re
from collections.abc import Sequence

MIN_MARKED_VALUES = 3
"""Distinct numbers with a mark: fewer have three digits behind it by chance."""
_MARKED = re.compile(r"[+-]?[1-9]\d{0,2}(?P<mark>[.,])(?P<rest>\d{3})", re.ASCII)
_BARE = re.compile(r"[+-]?(?:0|[1-9]\d{0,2})", re.ASCII)
_COUNT_NAME = re.compile(
    r"popul|inhabitant|einwohner|inwoner|habitant|abitanti|bevölkerung|bevolking|customers?\b|kunden|klanten|clients?\b"
    r"|visitors?\b|visits\b|besuche|bezoek|views?\b|clicks?\b|impressions|downloads|followers|subscribers|members\b"
    r"|mitglieder|\bleden\b|students?\b|studenten|studierende|employees|mitarbeiter|werknemers|beschäftigte|households"
    r"|haushalte|huishoudens|vehicles|fahrzeuge|voertuigen|passengers|fahrgäste|passagiers|votes?\b|stimmen\b|stemmen\b"
    r"|voters|wahlberechtigte|stück|stueck|\bstuks\b|pieces\b|quantity|\bqty\b|anzahl|aantal|\bcounts?\b|deaths|births"
    r"|arrivals|übernachtungen|overnachtingen",
    re.IGNORECASE,
)
"""Names of counts, which have no decimals."""
_MONEY_NAME = re.compile(
    r"umsatz|omzet|betrag|bedrag|preis|prijs|prix|precio|prezzo|gehalt|loon|saldo|kosten|montant|importe|importo"
    r"|\b(?:eur|euro|chf|usd|gbp)\b|[€$£]",
    re.IGNORECASE,
)
"""Names of money, which has two decimals or none."""
_RATE_NAME = re.compile(
    r"\b(?:per|pro|je|rate|ratio|avg|average|mean|share|index|pct|percent|durchschnitt|gemiddeld\w*)\b|%",
    re.IGNORECASE,
)


def prove_thousands(name: str, texts: Sequence[str], *, is_comma_free: bool) -> str | None:
    """Return the mark that separates thousands in all distinct `texts` of a column, None where that is open.

    `is_comma_free`: commas do not separate the cells, as in files of countries with a decimal comma.
    """
    marked = [match for text in texts if (match := _MARKED.fullmatch(text))]
    marks = {match["mark"] for match in marked}
    if len(marked) < MIN_MARKED_VALUES or len(marks) > 1:
        return None
    bare = [text for text in texts if _BARE.fullmatch(text)]
    if len(marked) + len(bare) < len(texts):
        return None
    # Who writes 8.120 writes all decimals, and would write 947.000.
    is_proven = bool(bare) and any(match["rest"].endswith("0") for match in marked)
    words = re.sub(r"[_\-.]", " ", name)
    is_count = _COUNT_NAME.search(words) is not None and _RATE_NAME.search(words) is None
    is_money = is_comma_free and _MONEY_NAME.search(words) is not None and _RATE_NAME.search(words) is None
    return marks.pop() if is_proven or is_count or is_money else None
