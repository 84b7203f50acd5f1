"""What a goal about prices says of coins, bars, dates and costs."""

import re
from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from app.agents.goals.patterns import COINS, MONTHS, NUMBERS, ROWS, SECONDS
from app.agents.goals.stemming import words

_NUMBER = r"\d+(?:[.,]\d+)?"
_UNIT = r"bps?\b|basis[- ]points?|%|per ?cent|percent"
_FEE = r"fees?|commissions?|costs?|(?:trading|transaction|taker|maker) (?:fees?|costs?)"


def _amount(kind: str) -> re.Pattern[str]:
    """`fees of 10 bps`, `10 bps fees`, `0.1% in fees`."""
    return re.compile(
        rf"\b(?:{kind})\b(?: (?:of|are|is|at|about|around|roughly))*(?:\s*[:=])?\s*"
        rf"(?P<a>{_NUMBER})\s*(?P<ua>{_UNIT})"
        rf"|\b(?P<b>{_NUMBER})\s*(?P<ub>{_UNIT})(?: (?:of|in|for|as|per trade|a trade))*\s*(?:{kind})\b",
        re.IGNORECASE,
    )


_FEES, _SLIPPAGE = _amount(_FEE), _amount("slippage")
_FREE = re.compile(rf"\b(?:no|zero|without(?: any)?|free of) (?:{_FEE})\b|\bfee[- ]free\b", re.IGNORECASE)
_TAKER = _amount(r"taker(?: (?:fees?|costs?))?")
_ROUND_TRIP = re.compile(r"\bround[- ]?trips?\b", re.IGNORECASE)
_TAKE = _amount(r"take[- ]?profits?|profit targets?|tp")
_STOP = _amount(r"stop(?:[- ]loss(?:es)?)?|sl")
_PATIENCE = re.compile(
    rf"\b(?:at most|within|no (?:longer|more) than|for up to|up to|max(?:imum|imally)?(?: of)?"
    rf"|(?:hold(?:ing)?|held|open)(?: it| them)? for|time[- ]?out(?: of| after)?|after)"
    rf" (?P<n>\d+|{'|'.join(NUMBERS)})[- ](?P<u>{'|'.join([*SECONDS, *sorted(ROWS)])})s?\b",
    re.IGNORECASE,
)
_LONG_ONLY = re.compile(
    r"\blong[- ]only\b|\b(?:no|without|never|cannot|can't|not) (?:go |sell )?short(?:ing)?\b|\bspot only\b",
    re.IGNORECASE,
)
_BARS = r"(?:bars?|candles?|candlesticks?|klines?|prices?|data|intervals?|ohlcv?)"
_INTERVAL = re.compile(
    rf"\b(?P<n>\d+|{'|'.join(NUMBERS)})[- ]?(?P<u>m|min|minutes?|h|hours?|d|days?|w|weeks?)[- ]{_BARS}\b"
    rf"|\b(?P<word>minute|hourly|daily|weekly)[- ]{_BARS}\b",
    re.IGNORECASE,
)
_INTERVALS = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_RHYTHMS = {"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month"}
_RHYTHM = re.compile(
    rf"\b({'|'.join(_RHYTHMS)})[- ](?:log[- ])?(?:returns?|changes?|moves?|direction|volatility|forecasts?)\b",
    re.IGNORECASE,
)
_WORDS = {"minute": "1m", "hourly": "1h", "daily": "1d", "weekly": "1w"}

_MONTH = "|".join(f"{name}|{name[:3]}" for name in MONTHS)
_DAY = (
    rf"(?:\d{{4}}-\d{{2}}-\d{{2}}|\d{{4}}-\d{{2}}|(?:{_MONTH})\.? (?:\d{{1,2}}(?:st|nd|rd|th)?,? )?\d{{4}}"
    r"|\d{4})"
)
_DASH = "-|\N{EN DASH}"
_SPAN = re.compile(
    rf"\b(?:from|between)\s+(?P<a>{_DAY})\s+(?:to|until|till|through|and|-)\s+(?P<b>{_DAY})\b"
    rf"|\b(?P<c>{_DAY})\s+(?:to|until|till|through|{_DASH})\s+(?P<d>{_DAY})\b",
    re.IGNORECASE,
)
_SINCE = re.compile(rf"\b(?:since|from|after|starting(?: in| on)?)\s+(?P<a>{_DAY})\b", re.IGNORECASE)
_UNTIL = re.compile(rf"\b(?:until|till|before|up to)\s+(?P<a>{_DAY})\b", re.IGNORECASE)
_DURING = re.compile(rf"\b(?:of|in|during|for|over)\s+(?:the year )?(?P<a>{_DAY})\b", re.IGNORECASE)


@dataclass(frozen=True)
class Wanted:
    """`interval` as "5m", "1h", "1d"; `start` and `end` ISO 8601, both within; costs of one trade in basis
    points."""

    coins: tuple[str, ...] = ()
    interval: str | None = None
    start: str | None = None
    end: str | None = None
    fee_bps: float | None = None
    slippage_bps: float | None = None
    long_only: bool = False
    take_profit: float | None = None
    stop_loss: float | None = None
    """Shares of the price."""


def wanted_of(text: str) -> Wanted:
    """What a goal wants of the market; None where it says nothing."""
    start, end = _span(text)
    return Wanted(
        coins=tuple(dict.fromkeys(COINS[word] for word in words(text) if word in COINS)),
        interval=_interval(text),
        start=start,
        end=end,
        fee_bps=_fee(text),
        slippage_bps=_bps(_SLIPPAGE, text),
        long_only=bool(_LONG_ONLY.search(text)),
        take_profit=_share(_TAKE, text),
        stop_loss=_share(_STOP, text),
    )


def names_barriers(text: str) -> bool:
    """Does a goal say where trades end?"""
    return bool(_TAKE.search(text) or _STOP.search(text))


def rhythm_of(text: str) -> str | None:
    """The unit of time that a goal looks ahead by its name for a move: weekly returns are those of a week."""
    found = _RHYTHM.search(text)
    return _RHYTHMS[found[1].lower()] if found else None


def patience_of(text: str) -> tuple[int, str] | None:
    """How long such trades are held at most: a count and its unit."""
    found = _PATIENCE.search(text)
    if found is None or not names_barriers(text):
        return None
    said = found["n"].lower()
    return NUMBERS.get(said) or int(said), found["u"].lower()


def seconds_of(interval: str) -> int:
    """Of an interval such as "15m"."""
    return int(interval[:-1]) * _INTERVALS[interval[-1]]


def bps_of(answer: str) -> float | None:
    """A cost as a person answers it: `10 bps`, `0.1 %`, `none`, or a number of basis points."""
    if re.fullmatch(r"\s*(?:none|no|zero|free)\b.*", answer, re.IGNORECASE):
        return 0.0
    found = re.search(rf"(?P<a>{_NUMBER})\s*(?P<ua>{_UNIT})?", answer, re.IGNORECASE)
    return _value(found["a"], found["ua"] or "bps") if found else None


def _fee(text: str) -> float | None:
    """Of one trade: half of what opening and closing cost together, and what takers pay where makers pay less.
    None where the goal names none, or several that contradict each other."""
    named = [_value(found["a"] or found["b"], found["ua"] or found["ub"]) for found in _FEES.finditer(text)]
    taken = _bps(_TAKER, text)
    each = {*([taken] if taken is not None else named), *([0.0] if _FREE.search(text) else [])}
    if len(each) != 1:
        return None
    return each.pop() / (2 if _ROUND_TRIP.search(text) else 1)


def _bps(pattern: re.Pattern[str], text: str) -> float | None:
    found = pattern.search(text)
    return _value(found["a"] or found["b"], found["ua"] or found["ub"]) if found else None


def _share(pattern: re.Pattern[str], text: str) -> float | None:
    bps = _bps(pattern, text)
    return None if bps is None else bps / 10_000


def _value(number: str, unit: str) -> float:
    value = float(number.replace(",", "."))
    return round(value if unit.lower()[0] == "b" else value * 100, 6)


def _interval(text: str) -> str | None:
    found = _INTERVAL.search(text)
    if found is None:
        return None
    if found["word"]:
        return _WORDS[found["word"].lower()]
    count = NUMBERS.get(found["n"].lower()) or int(found["n"])
    return f"{count}{found['u'][0].lower()}" if count else None


def _span(text: str) -> tuple[str | None, str | None]:
    if both := _SPAN.search(text):
        return _first(both["a"] or both["c"]), _last(both["b"] or both["d"])
    since, until, during = _SINCE.search(text), _UNTIL.search(text), _DURING.search(text)
    if since or until:
        return _first(since["a"]) if since else None, _last(until["a"], open_end=True) if until else None
    return (_first(during["a"]), _last(during["a"])) if during else (None, None)


def _first(said: str) -> str | None:
    found = _date(said)
    return date(found[0], found[1] or 1, found[2] or 1).isoformat() if found else None


def _last(said: str, open_end: bool = False) -> str | None:
    """The last second of a day, month or year; with `open_end` the one before it begins."""
    found = _date(said)
    if found is None:
        return None
    if open_end:
        return _first(said)
    year, month, day = found[0], found[1] or 12, found[2]
    return f"{date(year, month, day or monthrange(year, month)[1]).isoformat()}T23:59:59"


def _date(said: str) -> tuple[int, int, int] | None:
    """Year, month and day; 0 where it is not said. None for what is no date."""
    parts: Sequence[str] = said.lower().replace(",", " ").replace(".", " ").replace("-", " ").split()
    if parts[0].isdigit():
        numbers = [int(part) for part in parts] + [0, 0]
        found = (numbers[0], numbers[1], numbers[2])
    else:
        month = next(place for place, name in enumerate(MONTHS, 1) if name.startswith(parts[0][:3]))
        day = int(re.sub(r"\D", "", parts[1])) if len(parts) > 2 else 0
        found = (int(parts[-1]), month, day)
    try:
        date(found[0], found[1] or 1, found[2] or 1)
    except ValueError:
        return None
    return found if 1970 <= found[0] <= 2200 else None
