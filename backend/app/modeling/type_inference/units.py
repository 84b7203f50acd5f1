"""Units and currencies before or after numbers, and their factors."""

import re
from collections.abc import Collection, Mapping, Sequence

from app.modeling.type_inference.vocabulary import split_words

_CURRENCY_WORDS: dict[str, str] = {
    "USD": "$ us$ u$s us$. usd usd$ $us dollar dollars",
    "EUR": "€ eur euro euros",
    "GBP": "£ gbp gb£ stg pound pounds quid",
    "JPY": "¥ jpy yen 円 jp¥",
    "CNY": "cny rmb cn¥ yuan 元",
    "INR": "₹ inr rs rs. rupees re. ₨",
    "CHF": "chf fr. sfr sfr. francs franken",
    "SEK": "sek",
    "NOK": "nok",
    "DKK": "dkk",
    "ISK": "isk",
    "kr": "kr kr.",
    "CAD": "cad c$ ca$ can$ cdn$",
    "AUD": "aud a$ au$",
    "NZD": "nzd nz$",
    "HKD": "hkd hk$",
    "SGD": "sgd s$",
    "TWD": "twd nt$ ntd",
    "BRL": "brl r$ reais",
    "MXN": "mxn mx$ mex$",
    "ARS": "ars ar$",
    "CLP": "clp clp$",
    "COP": "cop col$",
    "PEN": "pen s/ s/.",
    "UYU": "uyu $u",
    "PLN": "pln zł zl złotych",
    "CZK": "czk kč kc",
    "HUF": "huf ft.",
    "RON": "ron lei leu",
    "BGN": "bgn лв лв.",
    "HRK": "hrk kn",
    "RUB": "rub ₽ \u0440\u0443\u0431 \u0440\u0443\u0431. \u0440.",
    "UAH": "uah ₴ грн грн.",
    "TRY": "try tl ₺",
    "ILS": "ils ₪ nis",
    "KRW": "krw ₩ won",
    "THB": "thb ฿ baht",
    "VND": "vnd ₫ đ",
    "IDR": "idr rp rp.",
    "MYR": "myr rm",
    "PHP": "php ₱",
    "PKR": "pkr",
    "BDT": "bdt ৳ tk tk.",
    "LKR": "lkr",
    "ZAR": "zar",
    "NGN": "ngn ₦",
    "KES": "kes ksh ksh. kshs",
    "GHS": "ghs ₵ gh₵",
    "EGP": "egp e£ le",
    "AED": "aed dhs dhs. dh",
    "SAR": "sar sr",
    "KZT": "kzt ₸",
    "GEL": "gel ₾",
    "BTC": "btc ₿",
}
CURRENCY_CODES: dict[str, str] = {
    word: code for code, words in _CURRENCY_WORDS.items() for word in words.split()
}
"""Word or sign of a currency, in lower case -> its ISO code; `kr` is the krone of several countries."""
CURRENCIES = frozenset(CURRENCY_CODES)
_KRONER = frozenset({"kr", "SEK", "NOK", "DKK", "ISK"})
"""Codes of currencies that are written `kr` too."""

MAGNITUDES: dict[str, float] = {
    **dict.fromkeys(("k", "tsd", "tsd.", "thousand", "thousands", "tys", "tys.", "mil."), 1e3),
    **dict.fromkeys(
        ("m", "mm", "mn", "mn.", "mio", "mio.", "mln", "mln.", "mill.", "million", "millions", "millionen"), 1e6
    ),
    **dict.fromkeys(("millones", "milhões", "milioni", "miljoen", "mi"), 1e6),
    **dict.fromkeys(("b", "bn", "bn.", "mrd", "mrd.", "mld", "mld.", "billion", "billions"), 1e9),
    **dict.fromkeys(("milliarden", "milliarde", "milliards", "milliard", "miljard", "bi"), 1e9),
    **dict.fromkeys(("tn", "trn", "trillion", "trillions"), 1e12),
    **dict.fromkeys(("l", "lakh", "lakhs", "lac", "lacs"), 1e5),
    **dict.fromkeys(("cr", "cr.", "crore", "crores"), 1e7),
}
_LONE_UNITS = frozenset({"m", "l", "b", "mm", "mi", "bi"})
"""Words that are units of measures too, where no other magnitude, currency or plain number stands beside."""

PERCENT_WORDS = split_words(
    "%|percent|per cent|pct|pct.|prozent|v.h.|p.c.|pour cent|por ciento|por cento|per cento"
)
_TIMES: dict[float, str] = {
    1e-3: "ms msec msecs millisecond milliseconds",
    1.0: "s sec secs second seconds sek sek. sekunde sekunden seconde secondes segundos secondi",
    60.0: "min min. mins minute minutes minuten minutos minuti",
    3600.0: "h hr hrs hour hours std std. stunde stunden heure heures hora horas ora ore",
    86400.0: "d day days tag tage tagen jour jours día días dia dias giorno giorni",
    604800.0: "week weeks wk wks woche wochen semaine semaines semana semanas settimane",
}
TIME_UNITS: dict[str, float] = {word: seconds for seconds, words in _TIMES.items() for word in words.split()}
"""Unit of time in lower case -> its seconds."""
UNIT_FAMILIES: tuple[dict[str, float], ...] = (
    dict.fromkeys(sorted(PERCENT_WORDS), 1.0),
    {
        **{"µg": 1e-9, "μg": 1e-9, "ug": 1e-9, "mcg": 1e-9, "mg": 1e-6},
        **{"g": 1e-3, "gr": 1e-3, "gr.": 1e-3, "gram": 1e-3, "grams": 1e-3, "gramm": 1e-3},
        **{"dag": 1e-2, "kg": 1.0, "kgs": 1.0, "kilo": 1.0, "kilos": 1.0},
        **{"t": 1e3, "ton": 1e3, "tons": 1e3, "tonne": 1e3, "tonnes": 1e3, "tonnen": 1e3},
    },
    {"lb": 1.0, "lbs": 1.0, "lbs.": 1.0, "pounds": 1.0, "oz": 1 / 16, "oz.": 1 / 16, "st": 14.0},
    {
        **{"nm": 1e-9, "µm": 1e-6, "μm": 1e-6, "um": 1e-6, "mm": 1e-3, "cm": 1e-2, "dm": 1e-1},
        **{"m": 1.0, "meter": 1.0, "meters": 1.0, "metre": 1.0, "metres": 1.0, "mtr": 1.0},
        **{"km": 1e3, "kms": 1e3, "kilometer": 1e3, "kilometers": 1e3, "kilometre": 1e3, "kilometres": 1e3},
    },
    {
        **{"in": 1 / 12, "in.": 1 / 12, "inch": 1 / 12, "inches": 1 / 12, '"': 1 / 12},
        **{"ft": 1.0, "ft.": 1.0, "feet": 1.0, "foot": 1.0, "'": 1.0},
        **{"yd": 3.0, "yds": 3.0, "yard": 3.0, "yards": 3.0, "mi": 5280.0, "mile": 5280.0, "miles": 5280.0},
    },
    {"ml": 1e-3, "cl": 1e-2, "dl": 1e-1, "l": 1.0, "ltr": 1.0, "liter": 1.0, "litre": 1.0, "hl": 100.0},
    {"liters": 1.0, "litres": 1.0, "l": 1.0, "ml": 1e-3},
    {"m²": 1.0, "m2": 1.0, "qm": 1.0, "sqm": 1.0, "sq m": 1.0, "ha": 1e4, "km²": 1e6, "km2": 1e6, "sq km": 1e6},
    {"sqft": 1.0, "sq ft": 1.0, "sq. ft.": 1.0, "sq.ft.": 1.0, "ft²": 1.0, "ft2": 1.0},
    {"acres": 43560.0, "acre": 43560.0, "ac": 43560.0, "sqft": 1.0, "sq ft": 1.0},
    TIME_UNITS,
    {"month": 1.0, "months": 1.0, "mo": 1.0, "mos": 1.0, "year": 12.0, "years": 12.0, "yr": 12.0, "yrs": 12.0},
    {"monat": 1.0, "monate": 1.0, "jahr": 12.0, "jahre": 12.0},
    {"mois": 1.0, "an": 12.0, "ans": 12.0},
    {
        **{"b": 1 / 1024, "byte": 1 / 1024, "bytes": 1 / 1024, "kb": 1.0, "kib": 1.0},
        **{
            "mb": 1024.0,
            "mib": 1024.0,
            "gb": 1048576.0,
            "gib": 1048576.0,
            "tb": 1073741824.0,
            "tib": 1073741824.0,
        },
    },
    {"w": 1.0, "kw": 1e3, "mw": 1e6, "gw": 1e9},
    {"wh": 1.0, "kwh": 1e3, "mwh": 1e6, "gwh": 1e9, "twh": 1e12},
    {"cal": 1e-3, "kcal": 1.0},
    {"j": 1e-3, "kj": 1.0, "mj": 1e3},
    {"hz": 1.0, "khz": 1e3, "mhz": 1e6, "ghz": 1e9},
    {"pa": 1.0, "hpa": 100.0, "kpa": 1e3, "mbar": 100.0, "bar": 1e5},
    {"+": 1.0},
)
_CLOCK_WORDS = split_words("am|pm|a.m.|p.m.|a.m|p.m|uhr")
ORDINALS = split_words("st|nd|rd|th|er|º|ª")
APPROXIMATE_PREFIXES = split_words("±|~|≈|<|>|≤|≥|<=|>=|ca|ca.|c.|circa|approx|approx.|about|est.|env.")
"""Words before a number that is taken as it is: limits of a measurement, and rough numbers."""
_SIGN_LETTERS: tuple[dict[str, float], ...] = (
    {"s": -1.0, "h": 1.0},
    {"dr": -1.0, "cr": 1.0},
    {"dr.": -1.0, "cr.": 1.0},
    {"db": -1.0, "cr": 1.0},
    {"d": -1.0, "c": 1.0},
    {"d": -1.0, "h": 1.0},
)
"""Letters of debit and credit: a debit is negative."""
MAX_FLAG_CHARS = 2
"""Characters of flags such as `r` (revised) or `p` (provisional) behind some of the numbers."""
MIN_UNIT_SHARE = 0.05
"""Share of the numbers that an unknown word behind them must stand at to be their unit."""
Factors = tuple[dict[str, float], str]
"""Factor of each word, and the unit of the numbers."""


def resolve_prefixes(affixes: Mapping[str, int]) -> Factors | None:
    """Resolve words before numbers (word -> count): factors, and the one currency that they name.

    None for other words, or for several currencies.
    """
    words = [word for word in affixes if word and word not in APPROXIMATE_PREFIXES]
    unit = _currency(words)
    return None if unit is None else (dict.fromkeys((word for word in affixes if word), 1.0), unit)


def resolve_suffixes(affixes: Mapping[str, int], spaced: bool, has_currency: bool = False) -> Factors | None:
    """Resolve words after numbers (word -> count): factors to the most frequent unit, and its name.

    An unknown word must be the only one, or a flag of few numbers among bare ones. None if the words are not
    units of one quantity. `has_currency`: a currency stands before the numbers, so that `m` is a million.
    """
    words = sorted((word for word in affixes if word), key=lambda word: -affixes[word])
    if not words:
        return {}, ""
    # `7 pm` is a time of day, which is read elsewhere.
    if _CLOCK_WORDS.intersection(words):
        return None
    currency = _currency(words)
    if currency is not None:
        return dict.fromkeys(words, 1.0), currency
    for resolve in (_signs, _scaled_currency):
        if factors := resolve(words):
            return factors
    # `5 m` may be metres; beside `5 k`, `5 bn` or a currency it is millions.
    is_scale = (
        has_currency or len(words) > 1 or ("" in affixes and words[0] != "m") or words[0] not in _LONE_UNITS
    )
    if set(words) <= MAGNITUDES.keys() and is_scale:
        return {word: MAGNITUDES[word] for word in words}, ""
    for family in UNIT_FAMILIES:
        if set(words) <= family.keys():
            # To the most frequent unit, so that most numbers stay as they were written.
            return {word: family[word] / family[words[0]] for word in words}, words[0]
    return _unknown_unit(words, affixes, spaced=spaced)


def _unknown_unit(words: Sequence[str], affixes: Mapping[str, int], *, spaced: bool) -> Factors | None:
    """Resolve words in no table: marks of few numbers, or the one unit of all."""
    if spaced and (flags := _flags(words, affixes)):
        return flags
    if _are_remarks(words, affixes):
        return (dict.fromkeys(words, 1.0), "") if spaced and all(map(_is_phrase, words)) else None
    # `pt`, `pts` and `pts.` are one unit, whatever it is.
    stems = {word.rstrip(".s") for word in words}
    is_unit = len(stems) == 1 and words[0] not in ORDINALS and (spaced or len(words[0]) > 1)
    return (dict.fromkeys(words, 1.0), words[0]) if is_unit else None


def _are_remarks(words: Sequence[str], affixes: Mapping[str, int]) -> bool:
    """Test for words behind so few of the numbers that they are not the unit of all."""
    return "" in affixes and sum(affixes[word] for word in words) < MIN_UNIT_SHARE * sum(affixes.values())


def _is_phrase(word: str) -> bool:
    return word.replace(" ", "").rstrip(".").isalpha()


def _signs(words: Sequence[str]) -> Factors | None:
    """Letters of debit and credit, if both occur."""
    # One letter alone may be a unit: `h` is hours, `d` is days.
    return next(((dict(pair), "") for pair in _SIGN_LETTERS if set(words) == set(pair)), None)


def _scaled_currency(words: Sequence[str]) -> Factors | None:
    """Magnitudes with a currency, such as `Mio. €`, `M€` and `bn USD`; some words may be the currency alone."""
    parts = {word: _split_currency(word) for word in words}
    currencies = [currency for _, currency in parts.values() if currency]
    unit = _currency(list(dict.fromkeys(currencies)))
    if not unit or any(scale is None for scale, _ in parts.values()):
        return None
    return {word: scale for word, (scale, _) in parts.items() if scale is not None}, unit


def _split_currency(word: str) -> tuple[float | None, str]:
    """The factor and the currency of a suffix; None for a word that is neither."""
    if word in MAGNITUDES:
        return MAGNITUDES[word], ""
    if word in CURRENCIES:
        return 1.0, word
    spaced = word.split()
    pairs = [(spaced[0], spaced[1]), (spaced[1], spaced[0])] if len(spaced) == 2 else []
    # Without a space only signs of one character can be told from a magnitude: `M€`, `€M`.
    pairs += [(word[:-1], word[-1]), (word[1:], word[0])]
    return next(
        (
            (MAGNITUDES[scale], currency)
            for scale, currency in pairs
            if scale in MAGNITUDES and currency in CURRENCIES
        ),
        (None, ""),
    )


def _flags(words: Sequence[str], affixes: Mapping[str, int]) -> Factors | None:
    """Letters behind fewer numbers than are bare: marks of the publisher, such as `r` for revised."""
    flagged = sum(affixes[word] for word in words)
    are_flags = all(len(word) <= MAX_FLAG_CHARS and word.isalpha() for word in words)
    return (dict.fromkeys(words, 1.0), "") if are_flags and flagged < affixes.get("", 0) else None


def synonyms(words: Collection[str], others: Sequence[str]) -> dict[str, float]:
    """The words that name the one currency of all `others` words, with the factor 1."""
    others = [word for word in others if word not in APPROXIMATE_PREFIXES]
    if not others or _currency(list(others)) is None:
        return {}
    return {word: 1.0 for word in sorted(words) if _currency([*others, word]) is not None}


def _currency(words: Sequence[str]) -> str | None:
    """The one currency of all words ("" for no words); None for another word, or for two currencies."""
    if not words:
        return ""
    codes = {CURRENCY_CODES.get(word, "") for word in words}
    if "" in codes:
        return None
    # Prices in two currencies are no quantity: adding or ranking them would be wrong without a rate.
    return words[0] if len(codes) == 1 or codes <= _KRONER else None


_UNIT_DIGITS = re.compile(r"[^\W\d_]\d(?!\d)|[^\W\d_]{2}\d{1,2}(?!\d)|/ ?\d{1,6}")
"""Digits that a unit may hold: an exponent (`m2`), those of a formula (`CO2`, `PM10`) or of a denominator."""


def is_plausible(suffix: str) -> bool:
    """Test whether a text behind a number can be a unit: other digits are those of a longer number or time."""
    is_listed = suffix in CURRENCIES or any(suffix in family for family in UNIT_FAMILIES)
    return is_listed or not re.search(r"\d", _UNIT_DIGITS.sub("", suffix))


def is_unit_word(word: str) -> bool:
    """Test whether a text in lower case names a unit, so that a row of such texts is no data."""
    text = re.sub(r"^[(\[]|[)\]]$", "", word.strip())
    is_listed = text in CURRENCIES or any(text in family for family in UNIT_FAMILIES)
    return (
        is_listed
        or _split_currency(text)[0] is not None
        or re.fullmatch(r"[^\d\s]{1,8}/[^\s/]{1,8}", text) is not None
    )
