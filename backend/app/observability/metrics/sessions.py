"""Metrics of sessions, their steps, leases and wake-ups."""

from prometheus_client import Counter, Histogram

SESSIONS_CREATED = Counter("labcrew_sessions_created_total", "Sessions that were created.", ("graph",))
SESSIONS_ENDED = Counter("labcrew_sessions_ended_total", "Sessions that ended.", ("graph", "status"))
SESSION_SECONDS = Histogram(
    "labcrew_session_duration_seconds",
    "Time from a session's first claim to its end, without waiting for its user.",
    ("graph", "status"),
    buckets=(0.1, 0.5, 1, 5, 15, 30, 60, 120, 300, 600, 900, 1800, 3600),
)
SESSION_WAIT_SECONDS = Histogram(
    "labcrew_session_wait_seconds",
    "Time from a session's creation to its first claim, in the admission queue and the job queue.",
    ("graph",),
    buckets=(0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600),
)
STEP_SECONDS = Histogram(
    "labcrew_step_duration_seconds",
    "Time from the start of a step's last run to its commit.",
    ("node",),
    buckets=(0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900),
)
STEP_ERRORS = Counter(
    "labcrew_step_errors_total",
    "Steps that failed their session, by kind of error.",
    ("node", "cause"),
)
FITS = Counter("labcrew_fits_total", "Fits that a worker ran to an end.", ("status",))
FIT_SECONDS = Histogram(
    "labcrew_fit_duration_seconds",
    "Time from a fit's claim to its result.",
    buckets=(0.1, 0.5, 1, 5, 15, 30, 60, 120, 300, 900),
)
LEASE_LOSSES = Counter(
    "labcrew_lease_losses_total", "Leases that expired and were taken over: their holder died or hung.", ("of",)
)
SWEEPER_FINDS = Counter(
    "labcrew_sweeper_finds_total", "Objects that only the sweeper woke, because a wake-up was lost.", ("what",)
)
QUESTIONS = Counter("labcrew_questions_asked_total", "Questions of sessions to their users.", ("kind",))
JOBS_DROPPED = Counter(
    "labcrew_jobs_dropped_total", "Wake-ups that Redis did not take; the sweeper sends them again."
)
