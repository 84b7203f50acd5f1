"""What lacks between bars, against counting it day by day."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from app.computations.bars.coverage import closes_at_weekends
from app.computations.bars.gaps import count_missing, count_weekend_bars

DAY_S = 86_400


def day_of(second: int) -> date:
    return datetime.fromtimestamp(second, UTC).date()


def weekdays_between(first: date, last: date) -> int:
    """Days from Monday to Friday after the first and before the last."""
    days = [first + timedelta(days=n) for n in range(1, (last - first).days)]
    return sum(day.weekday() < 5 for day in days)


@settings(max_examples=50, deadline=None)
@given(
    start=st.integers(-40 * 365 * DAY_S // 3_600, 60 * 365 * DAY_S // 3_600),
    steps=st.lists(st.integers(1, 400), min_size=1, max_size=20),
)
def test_missing_bars_and_weekdays_are_those_that_a_calendar_counts(start: int, steps: list[int]) -> None:
    hours = start + np.concatenate([[0], np.cumsum(steps)])
    seconds = [int(hour) * 3_600 for hour in hours]
    found = count_missing(np.asarray(seconds) * 1_000_000, 3_600 * 1_000_000)
    days = [day_of(second) for second in seconds]
    pairs = list(zip(days[:-1], days[1:], steps, strict=True))
    assert found.always.tolist() == [step - 1 for step in steps]
    assert found.within_day.tolist() == [step - 1 if before == after else 0 for before, after, step in pairs]
    assert found.days.tolist() == [weekdays_between(before, after) for before, after, _ in pairs]
    assert count_weekend_bars(np.asarray(seconds) * 1_000_000) == sum(day.weekday() >= 5 for day in days)


def test_currencies_that_open_on_sunday_evening_close_at_weekends_and_coins_do_not() -> None:
    hours = np.arange(26 * 7 * 24)
    of_week = hours % (7 * 24)  # 1970-01-05 is a Monday
    for is_open, closes in ((of_week < 4 * 24 + 22) | (of_week >= 6 * 24 + 21), True), (of_week >= 0, False):
        seconds = (hours[is_open] + 4 * 24) * 3_600
        share = count_weekend_bars(seconds * 1_000_000)
        assert closes_at_weekends(len(seconds), share, seconds[-1] - seconds[0], 3_600) == closes
