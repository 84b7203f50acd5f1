"""Triggers of workflows: cron with time zones, intervals, and the rule for missed ticks."""
