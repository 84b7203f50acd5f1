"""What goes in time and what somebody deleted."""

from prometheus_client import Counter, Gauge

RETIRED = Counter("labcrew_retired_total", "What was kept for long enough and has gone.", ("kind",))
DELETIONS_DONE = Counter("labcrew_deletions_total", "Deletions of sessions and accounts that are done.", ("kind",))
DELETIONS_OPEN = Gauge("labcrew_deletions_open", "Deletions that were asked for and are not done yet.")
SESSIONS_STRANDED = Gauge(
    "labcrew_sessions_stranded", "Sessions with something to do whose version of the graph no worker runs."
)
