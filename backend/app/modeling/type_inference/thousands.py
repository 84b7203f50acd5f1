"""Evidence that a mark such as the point of `25.445` separates thousands, where no number proves it."""

import re
from collections.abc import Sequence

MIN_MARKED_VALUES = 3
"""Distinct numbers with a mark: fewer have three digits behind it by chance."""
BARE_DIGITS = 3
"""Digits of a number without a mark, as thousands have next to them: `2` beside `1.250` is rather a decimal."""
_MARKED = re.compile(r"[+-]?[1-9]\d{0,2}(?P<mark>[.,])(?P<rest>\d{3})", re.ASCII)
_BARE = re.compile(r"[+-]?(?:0|[1-9]\d{0,2})", re.ASCII)
_COUNT_HEAD = re.compile(
    r"population|inhabitants|einwohner(?:zahl)?|inwoners|habitantes|habitants|abitanti|bevölkerung|bevolking"
    r"|customers|kunden|klanten|clients|visitors|visits|besuche|bezoeken|views|clicks|impressions|downloads"
    r"|followers|subscribers|members|mitglieder|leden|students|studenten|studierende|employees|mitarbeiter"
    r"|werknemers|beschäftigte|households|haushalte|huishoudens|vehicles|fahrzeuge|voertuigen|passengers"
    r"|fahrgäste|passagiers|votes|stimmen|stemmen|voters|wahlberechtigte|stück|stueck|stuks|pieces|quantity|qty"
    r"|quantité|cantidad|anzahl|aantal|counts?|deaths|births|arrivals|übernachtungen|overnachtingen",
    re.IGNORECASE,
)
"""Nouns of counts, which have no decimals."""
_COUNT_PREFIX = re.compile(
    r"\A(?:(?:total )?number of|no of|nr of|num|anzahl|aantal|nombre de|número de) ", re.IGNORECASE
)
_QUALIFIER = re.compile(r"(?: |\A)(?:\d++|total|all|sum|summe|gesamt|insgesamt|totaal)\Z", re.IGNORECASE)
"""What may stand behind a noun: a year, or a word for a total."""
_COMPLEMENT = re.compile(
    r" (?:of|in|at|by|for|on|from|von|der|des|im|am|bis|nach|van|de|du|op|per) ", re.IGNORECASE
)
_SCALE = re.compile(
    r"\b(?:m|k|mn|mio|mln|bn|mrd|tsd|millions?|millionen|miljoen|billions?|milliarden|thousands?|tausend|duizend"
    r"|hundreds?|1 ?000|000)\b",
    re.IGNORECASE,
)
"""Words for counts in thousands or millions, which do have decimals."""
_AMOUNT_NAME = re.compile(
    r"umsatz|omzet|betrag|bedrag|gehalt|loon|saldo|kosten|montant|importe|importo", re.IGNORECASE
)
"""Names of amounts of money, which have two decimals or none; prices per litre and exchange rates have 3."""
_RATE_NAME = re.compile(
    r"\b(?:per|pro|je|rate|ratio|avg|average|mean|share|index|pct|percent|durchschnitt|gemiddeld\w*|log|kurs"
    r"|wechselkurs|faktor|factor|exchange|median|std|stdev|growth|density|score|rating)\b|%",
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
    is_proven = any(len(text.lstrip("+-")) == BARE_DIGITS for text in bare) and any(
        match["rest"].endswith("0") for match in marked
    )
    words = _split_words(name)
    is_rate = _RATE_NAME.search(words) is not None or _SCALE.search(words) is not None
    is_amount = is_comma_free and marks == {"."} and _AMOUNT_NAME.search(words) is not None
    return marks.pop() if is_proven or (not is_rate and (is_amount or _is_count(words))) else None


def _split_words(name: str) -> str:
    """Words of a name such as `totalVisitors_2020`."""
    spaced = re.sub(r"(?<=[a-zäöü])(?=[A-Z])", " ", name)
    return " ".join(re.sub(r"[^\w%€$£]|_", " ", spaced).split())


def _is_count(words: str) -> bool:
    """Test for a noun of a count that is no modifier of another noun, as in `student_gpa`."""
    if _COUNT_PREFIX.match(words):
        return True
    head = _COMPLEMENT.split(words, maxsplit=1)[0]
    while (shorter := _QUALIFIER.sub("", head)) != head:
        head = shorter
    return _COUNT_HEAD.fullmatch(head.rpartition(" ")[2]) is not None
