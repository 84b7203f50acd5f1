"""Intervals of bars, in seconds and by name: `5m` is 300. Pure."""

import re

from app.errors import InvalidInput

DAY_S = 86_400
WEEK_S = 7 * DAY_S
MONTH_S = 30 * DAY_S
"""Seconds that stand for a calendar month."""

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": DAY_S, "w": WEEK_S, "mo": MONTH_S}
_SPELLINGS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes", "t"), "m"),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), "h"),
    **dict.fromkeys(("d", "day", "days"), "d"),
    **dict.fromkeys(("w", "wk", "week", "weeks"), "w"),
    **dict.fromkeys(("mo", "mon", "month", "months"), "mo"),
}
_WORDS = {"hourly": "1h", "daily": "1d", "weekly": "1w", "monthly": "1mo", "minutely": "1m"}
MAX_S = 400 * DAY_S
"""Longest interval: a year and some slack."""


def interval_name(seconds: int) -> str:
    """Name an interval by the largest unit that divides it: 300 is `5m`."""
    if seconds % MONTH_S == 0:
        return f"{seconds // MONTH_S}mo"
    unit = next(name for name in ("w", "d", "h", "m", "s") if seconds % _UNITS[name] == 0)
    return f"{seconds // _UNITS[unit]}{unit}"


def interval_seconds(name: str) -> int:
    """Parse `5m`, `5 min`, `1h`, `daily`, `1M` (a month), `300` (seconds); raises InvalidInput for anything
    else."""
    text = name.strip()
    text = _WORDS.get(text.lower(), text)
    match = re.fullmatch(r"(\d{1,8})?\s*([A-Za-z]*)", text)
    # Exchanges distinguish a month from a minute only by the capital letter.
    unit = "mo" if match and match[2] == "M" else _SPELLINGS.get(match[2].lower() or "s") if match else None
    unit = unit if text else None
    seconds = int(match[1] or 1) * _UNITS[unit] if match and unit else 0
    if not 0 < seconds <= MAX_S:
        raise InvalidInput(
            "bad_interval", f"{name!r} is not an interval; use for example 1m, 5m, 1h, 4h, 1d, 1w or 1mo."
        )
    return seconds
