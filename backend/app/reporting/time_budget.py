"""The comparison of the time that a session took with its budget."""

MAX_BUDGET_RATIO = 1.1
"""Ratio of working time to time budget above which the overrun is told: less is within what a step takes."""


def exceeds_budget(worked_s: float, budget_s: float | None, counts_fits: bool) -> bool:
    """Tell if a session took longer than its budget; one that counts fits instead of seconds has none."""
    return bool(budget_s) and not counts_fits and worked_s > MAX_BUDGET_RATIO * (budget_s or 0.0)
