"""Ticks of triggers: which one is due, and which one comes next. Pure; the caller passes the time."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import takewhile
from typing import NamedTuple

from app.workflows.cron import parse_cron
from app.workflows.node_configs import Trigger

MAX_LATE_S = 120.0
"""Seconds by which a tick may be late and still is no missed one: sweeps are seconds apart, and
workers restart."""
_MAX_COUNTED_TICKS = 100_000
"""Ticks of a pause that are counted one by one: those of two months of minutes."""


class DueTick(NamedTuple):
    """`tick`: the one to run, or None. `next_at`: the tick after it, None if there is none."""

    tick: datetime | None
    next_at: datetime | None


def first_tick(trigger: Trigger, now: datetime) -> datetime | None:
    """Return the first tick of a trigger that was just saved."""
    return next(list_ticks(trigger, now), None)


def choose_tick(trigger: Trigger, next_at: datetime, now: datetime) -> DueTick:
    """Choose the tick to run of those from `next_at` until now.

    Missed ticks, later than MAX_LATE_S, are left out (`skip`), run once at the last of them (`once`), or all
    run, one after
    the other (`all`).
    """
    if next_at > now:
        return DueTick(None, next_at)
    # The next sweep takes the next one, until all were run.
    if trigger.missed == "all":
        return DueTick(next_at, next(list_ticks(trigger, next_at), None))
    last = next_at
    for count, tick in enumerate(takewhile(lambda tick: tick <= now, list_ticks(trigger, next_at))):
        last = tick
        if count > _MAX_COUNTED_TICKS:
            break
    following = next(list_ticks(trigger, last), None)
    is_late = (now - last).total_seconds() > MAX_LATE_S
    return DueTick(None if is_late and trigger.missed == "skip" else last, following)


def list_ticks(trigger: Trigger, start: datetime) -> Iterator[datetime]:
    """Yield the ticks of a schedule or an interval after one of them; other kinds have none."""
    if trigger.kind == "schedule" and trigger.cron is not None:
        yield from parse_cron(trigger.cron, trigger.time_zone).ticks_after(start)
    elif trigger.kind == "interval" and trigger.every_s is not None:
        step, tick = timedelta(seconds=trigger.every_s), start
        while True:
            tick += step
            yield tick
