"""Cron expressions in a time zone: minute, hour, day of month, month, day of week.

Times are those of the wall clock. One that daylight saving skips is taken as long after the change as it would
have been after it began (02:30 becomes 03:30), one that occurs twice is taken once. Expressions for every hour
follow real time, so that they neither miss nor repeat an hour.
"""

from calendar import day_abbr, month_abbr
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from zoneinfo import ZoneInfo

MAX_SEARCHED_DAYS = 366 * 8
"""Days until a tick must come: 29 February comes after at most eight years."""
_MONTHS = {name.lower(): number for number, name in enumerate(month_abbr) if name}
_DAYS = {name.lower(): (number + 1) % 7 for number, name in enumerate(day_abbr)}
_FIELDS: tuple[tuple[str, int, int, dict[str, int]], ...] = (
    ("minute", 0, 59, {}),
    ("hour", 0, 23, {}),
    ("day of month", 1, 31, {}),
    ("month", 1, 12, _MONTHS),
    ("day of week", 0, 7, _DAYS),
)
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Cron:
    """A parsed expression. `days_of_week`: 0 is Sunday.

    As in cron, two restricted fields of days are alternatives.
    """

    minutes: frozenset[int]
    hours: frozenset[int]
    days_of_month: frozenset[int]
    months: frozenset[int]
    days_of_week: frozenset[int]
    zone: ZoneInfo

    def ticks_after(self, start: datetime) -> Iterator[datetime]:
        """Yield the ticks after an instant, in UTC. Nothing for a day that never comes, such as 30 February."""
        return self._real_ticks(start) if len(self.hours) == 24 else self._wall_ticks(start)

    def matches_day(self, day: date) -> bool:
        by_month, by_week = day.day in self.days_of_month, day.isoweekday() % 7 in self.days_of_week
        # The rule of cron: `1 * 1` is the first of each month and each Monday, not a Monday that is a first.
        if len(self.days_of_month) < 31 and len(self.days_of_week) < 7:
            return day.month in self.months and (by_month or by_week)
        return day.month in self.months and by_month and by_week

    @cached_property
    def _times(self) -> list[time]:
        return [time(hour, minute) for hour in sorted(self.hours) for minute in sorted(self.minutes)]

    def _wall_ticks(self, start: datetime) -> Iterator[datetime]:
        # A time that daylight saving skips is taken later, perhaps after midnight: the day before counts too.
        day, last = start.astimezone(self.zone).date() - timedelta(days=1), start
        remaining_days = MAX_SEARCHED_DAYS
        while remaining_days:
            remaining_days -= 1
            if self.matches_day(day):
                for wall_time in self._times:
                    tick = datetime.combine(day, wall_time, self.zone).astimezone(UTC)
                    # Two times of the wall clock may be one instant after a change, which is taken once.
                    if tick > last:
                        yield tick
                        last, remaining_days = tick, MAX_SEARCHED_DAYS
            day += timedelta(days=1)

    def _real_ticks(self, start: datetime) -> Iterator[datetime]:
        tick = start.astimezone(UTC).replace(second=0, microsecond=0) + _MINUTE
        end = tick + timedelta(days=MAX_SEARCHED_DAYS)
        while tick < end:
            local = tick.astimezone(self.zone)
            if not self.matches_day(local.date()):
                midnight = datetime.combine(local.date() + timedelta(days=1), time(), self.zone)
                # Where midnight is skipped or comes twice, the search must still go on.
                tick = max(midnight.astimezone(UTC), tick + _MINUTE)
                continue
            if local.minute in self.minutes:
                yield tick
                end = tick + timedelta(days=MAX_SEARCHED_DAYS)
            tick += _MINUTE


def parse_cron(expression: str, zone: str = "UTC") -> Cron:
    """Parse five fields of numbers, names, lists, ranges and steps. Raises ValueError that names the field."""
    fields = expression.lower().split()
    if len(fields) != len(_FIELDS):
        raise ValueError(
            f"A cron expression has five fields (minute, hour, day of month, month, day of week), not "
            f"{len(fields)}. "
            "Example: 0 8 * * 1-5"
        )
    values = [_parse_field(field, *bounds) for field, bounds in zip(fields, _FIELDS, strict=True)]
    minutes, hours, days, months, week = values
    return Cron(minutes, hours, days, months, frozenset(day % 7 for day in week), load_zone(zone))


def load_zone(name: str) -> ZoneInfo:
    """Raises ValueError for a name that is none of the time zone database."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(f"There is no time zone {name}. Example: Europe/Berlin") from error


def _parse_field(text: str, name: str, low: int, high: int, names: dict[str, int]) -> frozenset[int]:
    values: set[int] = set()
    for part in text.split(","):
        span, slash, step_text = part.partition("/")
        step = _parse_number(step_text, name, 1, high, {}) if slash else 1
        if span == "*":
            first, last = low, high
        else:
            first_text, dash, last_text = span.partition("-")
            first = _parse_number(first_text, name, low, high, names)
            # As in cron, 5/15 counts from 5 to the end of the field.
            last = _parse_number(last_text, name, low, high, names) if dash else (high if slash else first)
        if last < first:
            raise ValueError(f"The range {span} of the {name} ends before it begins.")
        values.update(range(first, last + 1, step))
    # Sunday is both 0 and 7: `*` is seven days, not eight.
    return frozenset(values - {7} | {0}) if name == "day of week" and 7 in values else frozenset(values)


def _parse_number(text: str, name: str, low: int, high: int, names: dict[str, int]) -> int:
    # `mon` and `monday` alike.
    value = names.get(text[:3]) if text.isalpha() else None
    if value is None and text.isascii() and text.isdigit() and len(text) <= 2:
        value = int(text)
    if value is None or not low <= value <= high:
        raise ValueError(f"The {name} {text!r} is no number from {low} to {high}.")
    return value
