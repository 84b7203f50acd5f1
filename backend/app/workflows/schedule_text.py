"""Triggers in words: `every weekday at 8:00, Europe/Berlin`."""

from calendar import day_name, month_name
from collections.abc import Iterable, Sequence
from itertools import product

from app.workflows.cron import Cron, parse_cron
from app.workflows.node_configs import Trigger

MAX_NAMED_TIMES = 6
"""Times of a day that are named one by one: a reader takes in no more at a glance."""
_WEEKDAYS = frozenset(range(1, 6))
_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


def describe_trigger(trigger: Trigger) -> str:
    """Describe when a workflow runs by a trigger, without a capital and without a full stop."""
    if trigger.kind == "schedule" and trigger.cron is not None:
        text = f"{describe_cron(parse_cron(trigger.cron, trigger.time_zone))}, {trigger.time_zone}"
    elif trigger.kind == "interval" and trigger.every_s is not None:
        text = f"every {_describe_interval(trigger.every_s)}"
    elif trigger.kind == "webhook":
        text = "by a call of its address"
        text += f" that is signed with the secret {trigger.secret}" if trigger.secret else ""
    else:
        text = "for each new dataset of a name" if trigger.kind == "dataset" else "by hand"
    return text if trigger.enabled else f"{text}, switched off"


def describe_cron(cron: Cron) -> str:
    """Describe the days of a schedule, then its times by the wall clock."""
    times, is_daily = _describe_times(cron), len(cron.hours) < 24
    if _is_every_day(cron):
        return f"every day {times}" if is_daily else times
    return f"{_describe_days(cron)}{' ' if is_daily else ', '}{times}"


def _is_every_day(cron: Cron) -> bool:
    return len(cron.days_of_month) == 31 and len(cron.days_of_week) == 7 and len(cron.months) == 12


def _describe_days(cron: Cron) -> str:
    """Name the days. As in cron, restricted days of the week and of the month are alternatives."""
    parts = []
    if len(cron.days_of_month) < 31:
        word = "day" if len(cron.days_of_month) == 1 else "days"
        parts.append(f"on {word} {_join(_name_ranges(cron.days_of_month))} of the month")
    if cron.days_of_week == _WEEKDAYS:
        parts.append("every weekday")
    elif len(cron.days_of_week) < 7:
        # Sunday is 0 in cron and stands last in a week.
        parts.append(
            f"every {_join([day_name[(day - 1) % 7] for day in sorted(cron.days_of_week, key=_week_place)])}"
        )
    if not parts:
        parts.append("every day")
    months = (
        "" if len(cron.months) == 12 else f" in {_join([month_name[month] for month in sorted(cron.months)])}"
    )
    return f"{' and '.join(parts)}{months}"


def _week_place(day: int) -> int:
    return (day - 1) % 7


def _describe_times(cron: Cron) -> str:
    minutes, hours = sorted(cron.minutes), sorted(cron.hours)
    if len(hours) == 24:
        step = 60 // len(minutes)
        if len(minutes) == 60:
            return "every minute"
        if minutes == [0]:
            return "every hour"
        if minutes == list(range(0, 60, step)):
            return f"every {step} minutes"
        return f"every hour at minute {_join(_name_ranges(minutes))}"
    if len(hours) * len(minutes) <= MAX_NAMED_TIMES:
        return f"at {_join([f'{hour}:{minute:02}' for hour, minute in product(hours, minutes)])}"
    return f"at minute {_join(_name_ranges(minutes))} of hour {_join(_name_ranges(hours))}"


def _describe_interval(seconds: int) -> str:
    # The largest unit without a rest: 90 minutes are no number of hours.
    unit, size = next((unit, size) for unit, size in _UNITS if seconds % size == 0)
    return unit if seconds == size else f"{seconds // size:,} {unit}s"


def _name_ranges(numbers: Iterable[int]) -> list[str]:
    """Name numbers in order; three or more in a row as a range."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    names: list[str] = []
    for run in runs:
        names += [f"{run[0]} to {run[-1]}"] if len(run) > 2 else [str(number) for number in run]
    return names


def _join(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
