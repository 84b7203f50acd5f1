"""The vocabulary that goals and questions share: calendar, counts, units, identifiers, coins."""

import re

from app.number_words import NUMBER_WORDS


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list that is written as prose."""
    return frozenset(text.split())


MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

# "One" and the articles count only where a count is expected ("in a week"): elsewhere they are stop words.
PERSONS = word_set(
    "customer client member user patient donor guest player student visitor buyer subscriber shopper traveller"
    " traveler rider reader consumer household account cust passenger borrower policyholder tenant participant"
    " supporter listener viewer learner kunde"
)
"""Words for persons who do something again and again."""
COUNT_WORDS = {"a": 1, "an": 1, **NUMBER_WORDS}

SECONDS_BY_UNIT: dict[str, float] = {
    "minute": 60,
    "hour": 3_600,
    "day": 86_400,
    "week": 604_800,
    "month": 2_629_746,
    "quarter": 7_889_238,
    "year": 31_556_952,
    "night": 86_400,
    "evening": 86_400,
    "morning": 86_400,
    "afternoon": 86_400,
    "fortnight": 1_209_600,
    "term": 15_778_476,
    "semester": 15_778_476,
    "decade": 315_569_520,
}
"""Seconds of a unit of time; of month, quarter and year the mean of the Gregorian calendar.

A term is half a year; the next part of a day is one of the next day.
"""
UNIT_ABBREVIATIONS = {
    **dict.fromkeys(("m", "min", "mins"), "minute"),
    **dict.fromkeys(("h", "hr", "hrs"), "hour"),
    "d": "day",
    "w": "week",
}
"""Abbreviated units of time: the next 15m, 4h ahead."""
_SPELLED_UNITS = {
    **dict.fromkeys(("min", "mins"), "minute"),
    **dict.fromkeys(("h", "hr", "hrs"), "hour"),
    "d": "day",
    **dict.fromkeys(("wk", "wks"), "week"),
    **dict.fromkeys(("mth", "mths", "mo", "mos"), "month"),
    **dict.fromkeys(("yr", "yrs"), "year"),
}
_ABBREVIATED_TIME = re.compile(rf"\b(\d{{1,5}}) ?({'|'.join(_SPELLED_UNITS)})\b", re.IGNORECASE)


def spell_out_times(text: str) -> str:
    """Return the text with whole units of time behind numbers: "for 48h" becomes "for 48 hours"."""
    return _ABBREVIATED_TIME.sub(lambda match: f"{match[1]} {_SPELLED_UNITS[match[2].casefold()]}s", text)


ROW_UNITS = frozenset({"step", "row", "period", "bar", "tick", "observation", "candle", "season"})
"""Units of a horizon that is counted in rows."""

UNITS_OF_MEASURE = word_set("mm cm m km g mg kg ml l s ms min h usd eur gbp pct percent")
"""Units at the end of a column's name, which a goal or a question may leave out."""

IDENTIFIER_WORDS = frozenset({"id", "no", "number", "key", "nr"})
"""Words that mark a column's name as that of an identifier."""

FUNCTION_WORDS = word_set(
    """
    a all an and any are as be by can column columns could data dataset do file find for from get give here i
    in is it its me my of on our please table that the these this those to us value values we what which with
    you
    """
)
"""Stop words of goals and of questions alike. Each has more of its own: `predict` names nothing in a goal."""

COINS: dict[str, str] = {
    "bitcoin": "BTC",
    "btc": "BTC",
    "ethereum": "ETH",
    "ether": "ETH",
    "eth": "ETH",
    "solana": "SOL",
    "sol": "SOL",
    "dogecoin": "DOGE",
    "doge": "DOGE",
    "cardano": "ADA",
    "ripple": "XRP",
    "xrp": "XRP",
    "litecoin": "LTC",
    "ltc": "LTC",
    "bnb": "BNB",
    "polkadot": "DOT",
    "chainlink": "LINK",
    "avax": "AVAX",
    "tron": "TRX",
    "trx": "TRX",
    "xlm": "XLM",
    "monero": "XMR",
    "xmr": "XMR",
    "bch": "BCH",
}
"""Symbols of coins by the words that name them."""
