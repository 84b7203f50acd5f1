"""Metrics of jobs of machines."""

from prometheus_client import Counter

JOBS_TAKEN = Counter("labcrew_agent_jobs_taken_total", "Messages that were taken from the queue.", ("outcome",))
JOBS_ANSWERED = Counter("labcrew_agent_jobs_answered_total", "Answers of jobs.", ("lane", "status"))
JOBS_RECLAIMED = Counter(
    "labcrew_agent_jobs_reclaimed_total", "Messages that a dead listener held and that were queued again."
)
