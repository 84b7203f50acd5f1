"""Limits that all triggers share."""

MAX_LIVE_RUNS = 10
"""Runs of a workflow that have not ended: one that a trigger asks for beyond waits or is skipped, or runs would
pile up."""
