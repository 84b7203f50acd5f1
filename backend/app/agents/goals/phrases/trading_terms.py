"""Coins, bars, dates and costs in the words of a goal about prices."""

import re
from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.typed_pattern import TypedPattern
from app.agents.goals.words.vocabulary import COINS, COUNT_WORDS, MONTHS, ROW_UNITS, SECONDS_BY_UNIT

_NUMBER = r"\d+(?:[.,]\d+)?"
_COUNT = rf"\d+|{'|'.join(COUNT_WORDS)}"
_PERIOD = "|".join([*SECONDS_BY_UNIT, *sorted(ROW_UNITS)])
_UNIT = r"bps?\b|basis[- ]points?|%|per ?cent|percent"
_FEE = r"fees?|commissions?|costs?|(?:trading|transaction|taker|maker) (?:fees?|costs?)"


class _Amount(NamedTuple):
    """A cost or a price change with its unit; without a unit it is in basis points."""

    number: str
    unit: str | None

    @property
    def bps(self) -> float:
        value = float(self.number.replace(",", "."))
        is_in_bps = (self.unit or "bps").lower().startswith("b")
        return round(value if is_in_bps else value * 100, 6)


def _amount_pattern(kind: str) -> TypedPattern[_Amount]:
    """Make the pattern of an amount: `fees of 10 bps`, `10 bps fees`, `0.1% in fees`."""
    return TypedPattern(
        re.compile(
            rf"\b(?:{kind})\b(?: (?:of|are|is|at|about|around|roughly))*(?:\s*[:=])?\s*"
            rf"(?P<number1>{_NUMBER})\s*(?P<unit1>{_UNIT})"
            rf"|\b(?P<number2>{_NUMBER})\s*(?P<unit2>{_UNIT})"
            rf"(?: (?:of|in|for|as|per trade|a trade))*\s*(?:{kind})\b",
            re.IGNORECASE,
        ),
        _Amount,
    )


_ANSWERED_AMOUNT = TypedPattern(
    re.compile(rf"(?P<number>{_NUMBER})\s*(?P<unit>{_UNIT})?", re.IGNORECASE), _Amount
)
_FEES, _SLIPPAGE = _amount_pattern(_FEE), _amount_pattern("slippage")
_FREE = re.compile(rf"\b(?:no|zero|without(?: any)?|free of) (?:{_FEE})\b|\bfee[- ]free\b", re.IGNORECASE)
_TAKER = _amount_pattern(r"taker(?: (?:fees?|costs?))?")
_ROUND_TRIP = re.compile(r"\bround[- ]?trips?\b", re.IGNORECASE)
_TAKE = _amount_pattern(r"take[- ]?profits?|profit targets?|tp")
_STOP = _amount_pattern(r"stop(?:[- ]loss(?:es)?)?|sl")


class _HoldingTime(NamedTuple):
    number: str
    unit: str


_HOLDING_TIME = TypedPattern(
    re.compile(
        rf"\b(?:at most|within|no (?:longer|more) than|for up to|up to|max(?:imum|imally)?(?: of)?"
        rf"|(?:hold(?:ing)?|held|open)(?: it| them)? for|time[- ]?out(?: of| after)?|after)"
        rf" (?P<number>{_COUNT})[- ](?P<unit>{_PERIOD})s?\b",
        re.IGNORECASE,
    ),
    _HoldingTime,
)
_LONG_ONLY = re.compile(
    r"\blong[- ]only\b|\b(?:no|without|never|cannot|can't|not) (?:go |sell )?short(?:ing)?\b|\bspot only\b",
    re.IGNORECASE,
)
_BARS = r"(?:bars?|candles?|candlesticks?|klines?|prices?|data|intervals?|ohlcv?)"


class _BarInterval(NamedTuple):
    """A length of bars: a count and its unit, or a word such as `hourly`."""

    number: str | None
    unit: str | None
    word: str | None


_INTERVAL = TypedPattern(
    re.compile(
        rf"\b(?P<number>{_COUNT})[- ]?(?P<unit>m|min|minutes?|h|hours?|d|days?|w|weeks?)[- ]{_BARS}\b"
        rf"|\b(?P<word>minute|hourly|daily|weekly)[- ]{_BARS}\b",
        re.IGNORECASE,
    ),
    _BarInterval,
)
_SECONDS_BY_LETTER = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_RHYTHMS = {"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month"}
_RHYTHM = re.compile(
    rf"\b({'|'.join(_RHYTHMS)})[- ](?:log[- ])?(?:returns?|changes?|moves?|direction|volatility|forecasts?)\b",
    re.IGNORECASE,
)
_INTERVAL_WORDS = {"minute": "1m", "hourly": "1h", "daily": "1d", "weekly": "1w"}

_MONTH = "|".join(f"{name}|{name[:3]}" for name in MONTHS)
_DAY = (
    rf"(?:\d{{4}}-\d{{2}}-\d{{2}}|\d{{4}}-\d{{2}}|(?:{_MONTH})\.? (?:\d{{1,2}}(?:st|nd|rd|th)?,? )?\d{{4}}"
    r"|\d{4})"
)
_DASH = "-|\N{EN DASH}"


class _Span(NamedTuple):
    start: str
    end: str


_SPAN = TypedPattern(
    re.compile(
        rf"\b(?:from|between)\s+(?P<start1>{_DAY})\s+(?:to|until|till|through|and|-)\s+(?P<end1>{_DAY})\b"
        rf"|\b(?P<start2>{_DAY})\s+(?:to|until|till|through|{_DASH})\s+(?P<end2>{_DAY})\b",
        re.IGNORECASE,
    ),
    _Span,
)
_SINCE = re.compile(rf"\b(?:since|from|after|starting(?: in| on)?)\s+({_DAY})\b", re.IGNORECASE)
_UNTIL = re.compile(rf"\b(?:until|till|before|up to)\s+({_DAY})\b", re.IGNORECASE)
_DURING = re.compile(rf"\b(?:of|in|during|for|over)\s+(?:the year )?({_DAY})\b", re.IGNORECASE)


@dataclass(frozen=True)
class MarketTerms:
    """Market terms of a goal: `interval` as "5m", "1h", "1d"; `start` and `end` in ISO 8601, inclusive; costs
    of one trade in basis points; `take_profit` and `stop_loss` as shares of the price."""

    coins: tuple[str, ...] = ()
    interval: str | None = None
    start: str | None = None
    end: str | None = None
    fee_bps: float | None = None
    slippage_bps: float | None = None
    long_only: bool = False
    take_profit: float | None = None
    stop_loss: float | None = None


def parse_market_terms(text: str) -> MarketTerms:
    """Parse the market terms of a goal. Fields that it does not name are None."""
    start, end = _parse_span(text)
    return MarketTerms(
        coins=tuple(dict.fromkeys(COINS[word] for word in words(text) if word in COINS)),
        interval=_parse_interval(text),
        start=start,
        end=end,
        fee_bps=_parse_fee(text),
        slippage_bps=_find_bps(_SLIPPAGE, text),
        long_only=bool(_LONG_ONLY.search(text)),
        take_profit=_find_share(_TAKE, text),
        stop_loss=_find_share(_STOP, text),
    )


def names_barriers(text: str) -> bool:
    """Tell if a goal names a profit or a loss at which trades end."""
    return bool(_TAKE.search(text) or _STOP.search(text))


def forecast_unit(text: str) -> str | None:
    """Return the unit of time that a goal implies as its horizon: a week for weekly returns."""
    match = _RHYTHM.search(text)
    return _RHYTHMS[match[1].lower()] if match else None


def parse_holding_time(text: str) -> tuple[int, str] | None:
    """Parse the maximum holding time of trades with barriers: a count and its unit."""
    holding_time = _HOLDING_TIME.search(text)
    if holding_time is None or not names_barriers(text):
        return None
    count = holding_time.number.lower()
    return COUNT_WORDS.get(count) or int(count), holding_time.unit.lower()


def interval_length_s(interval: str) -> int:
    """Return the seconds of an interval such as "15m"."""
    return int(interval[:-1]) * _SECONDS_BY_LETTER[interval[-1]]


def parse_bps(answer: str) -> float | None:
    """Parse a cost in a user's answer: `10 bps`, `0.1 %`, `none`, or a number of basis points."""
    if re.fullmatch(r"\s*(?:none|no|zero|free)\b.*", answer, re.IGNORECASE):
        return 0.0
    return _find_bps(_ANSWERED_AMOUNT, answer)


def _parse_fee(text: str) -> float | None:
    """Parse the fee of one trade: half of a round trip's, and the taker fee if there are two.

    None if the goal names no fee, or contradictory ones.
    """
    fees = [fee.bps for fee in _FEES.find_all(text)]
    taker_fee = _find_bps(_TAKER, text)
    distinct_fees = {*([taker_fee] if taker_fee is not None else fees), *([0.0] if _FREE.search(text) else [])}
    # Of contradictory fees none is taken: a backtest on the wrong one would look as sure.
    if len(distinct_fees) != 1:
        return None
    return distinct_fees.pop() / (2 if _ROUND_TRIP.search(text) else 1)


def _find_bps(pattern: TypedPattern[_Amount], text: str) -> float | None:
    amount = pattern.search(text)
    return amount.bps if amount else None


def _find_share(pattern: TypedPattern[_Amount], text: str) -> float | None:
    bps = _find_bps(pattern, text)
    return None if bps is None else bps / 10_000


def _parse_interval(text: str) -> str | None:
    interval = _INTERVAL.search(text)
    if interval is None:
        return None
    if interval.word:
        return _INTERVAL_WORDS[interval.word.lower()]
    count_text, unit = (interval.number or "").lower(), (interval.unit or "").lower()
    count = COUNT_WORDS.get(count_text) or int(count_text)
    return f"{count}{unit[:1]}" if count else None


def _parse_span(text: str) -> tuple[str | None, str | None]:
    """Parse the first and the last moment of the requested bars."""
    if span := _SPAN.search(text):
        return _first_day(span.start), _last_second(span.end)
    since, until, during = _SINCE.search(text), _UNTIL.search(text), _DURING.search(text)
    if since or until:
        start = _first_day(since[1]) if since else None
        return start, _last_second(until[1], open_end=True) if until else None
    return (_first_day(during[1]), _last_second(during[1])) if during else (None, None)


def _first_day(text: str) -> str | None:
    parts = _parse_date(text)
    return date(parts[0], parts[1] or 1, parts[2] or 1).isoformat() if parts else None


def _last_second(text: str, open_end: bool = False) -> str | None:
    """Return the last second of a day, month or year; with `open_end` its first day, which is excluded."""
    parts = _parse_date(text)
    if parts is None:
        return None
    if open_end:
        return _first_day(text)
    year, month, day = parts[0], parts[1] or 12, parts[2]
    return f"{date(year, month, day or monthrange(year, month)[1]).isoformat()}T23:59:59"


def _parse_date(text: str) -> tuple[int, int, int] | None:
    """Parse year, month and day, 0 for missing parts. None if the text is not a date."""
    fields: Sequence[str] = text.lower().replace(",", " ").replace(".", " ").replace("-", " ").split()
    if fields[0].isdigit():
        numbers = [int(part) for part in fields] + [0, 0]
        parts = (numbers[0], numbers[1], numbers[2])
    else:
        month = next(place for place, name in enumerate(MONTHS, 1) if name.startswith(fields[0][:3]))
        day = int(re.sub(r"\D", "", fields[1])) if len(fields) > 2 else 0
        parts = (int(fields[-1]), month, day)
    try:
        date(parts[0], parts[1] or 1, parts[2] or 1)
    except ValueError:
        return None
    return parts if 1970 <= parts[0] <= 2200 else None
