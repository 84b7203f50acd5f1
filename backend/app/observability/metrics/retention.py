"""What goes in time and what somebody deleted."""

from prometheus_client import Counter

RETIRED = Counter("labcrew_retired_total", "What was kept for long enough and has gone.", ("kind",))
DELETIONS_DONE = Counter(
    "labcrew_deletions_total", "Deletions of sessions and accounts that are done.", ("kind",)
)
