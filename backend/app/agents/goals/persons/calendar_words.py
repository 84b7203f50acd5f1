"""Calendar periods in goals about persons, and the days that stand for them: "next quarter", "in January"."""

import calendar
import re
from dataclasses import dataclass
from datetime import date, timedelta

from app.agents.goals.words.vocabulary import SECONDS_BY_UNIT

_MONTHS = [name.casefold() for name in calendar.month_name[1:]]
_CALENDAR = re.compile(
    r"\b(?:(?:this|next|coming|following|current) (?P<unit>week|month|quarter|year)"
    rf"|(?:in|for|during|of|next|this) (?P<month>{'|'.join(_MONTHS)})|(?:in )?q(?P<quarter>[1-4]))\b",
    re.IGNORECASE,
)
MAX_GAP_DAYS = 15
"""Days from the end of the data to a named month or quarter, up to which the days that follow stand for it."""


@dataclass(frozen=True)
class CalendarPeriod:
    """A period as the goal names it, and its usual length. `month`: the first of a named month or quarter."""

    text: str
    days: int
    month: int | None = None

    def days_until(self, end: date) -> int:
        """Return the days from the end of the data to the next begin of a named period; 0 for others."""
        if self.month is None:
            return 0
        # A period that began shortly before the end of the data is still meant.
        since = end - timedelta(days=MAX_GAP_DAYS)
        begins = (date(since.year + years, self.month, 1) for years in (0, 1))
        return max(0, (next(begin for begin in begins if begin >= since) - end).days)


def find_calendar_period(text: str) -> CalendarPeriod | None:
    """Find the first calendar period that a goal names."""
    match = _CALENDAR.search(text)
    if match is None:
        return None
    unit = "month" if match["month"] else "quarter" if match["quarter"] else match["unit"].lower()
    month = _MONTHS.index(match["month"].casefold()) + 1 if match["month"] else None
    if match["quarter"]:
        month = 3 * int(match["quarter"]) - 2
    return CalendarPeriod(match[0], round(SECONDS_BY_UNIT[unit] / SECONDS_BY_UNIT["day"]), month)
