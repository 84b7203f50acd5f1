"""Metrics of retention and deletions."""

from prometheus_client import Counter

RETIRED = Counter("labcrew_retired_total", "Objects removed at the end of their retention.", ("kind",))
DELETIONS_DONE = Counter(
    "labcrew_deletions_total", "Deletions of sessions, conversations and accounts that are done.", ("kind",)
)
