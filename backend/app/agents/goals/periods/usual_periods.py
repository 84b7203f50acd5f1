"""Periods and horizons of forecasts whose goals name none."""

from app.agents.goals.periods.time_axis import Period

PARTS_OF_UNITS: dict[str, tuple[Period, ...]] = {
    "minute": ("minute",),
    "hour": ("hour",),
    "day": ("day",),
    "week": ("day", "week"),
    "fortnight": ("day", "week"),
    "month": ("day", "month"),
    "quarter": ("month", "quarter"),
    "year": ("month", "quarter", "year"),
    "decade": ("year",),
}
"""Periods by which a unit of a horizon is forecast, the finest first."""
MAX_UNIT_DAYS = (("week", 14), ("month", 45), ("quarter", 100))
"""Days up to which dates are a week, a month or a quarter: longer ones are a year."""
USUAL_STEPS: dict[Period, int] = {
    "minute": 60,
    "hour": 24,
    "day": 28,
    "business_day": 20,
    "week": 13,
    "month": 12,
    "quarter": 8,
    "year": 5,
}
"""Periods that are forecast if the goal says no horizon: about a season."""
COVERED_PERIODS: tuple[Period, ...] = ("month", "week", "day", "hour")
MIN_COVERED = 36
"""Periods of transactions whose forecast names none, and how many of them must be covered."""
