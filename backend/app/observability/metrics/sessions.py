"""Sessions, their steps, leases and wake-ups: counted by whoever moves them."""

from prometheus_client import Counter, Histogram

SESSIONS_CREATED = Counter("labcrew_sessions_created_total", "Sessions that were asked for.", ("graph",))
SESSIONS_ENDED = Counter("labcrew_sessions_ended_total", "Sessions that ended.", ("graph", "status"))
SESSION_SECONDS = Histogram(
    "labcrew_session_duration_seconds",
    "From a session's first claim to its end, without the time that it waited for its user.",
    ("graph", "status"),
    buckets=(0.1, 0.5, 1, 5, 15, 30, 60, 120, 300, 600, 900, 1800, 3600),
)
SESSION_WAIT_SECONDS = Histogram(
    "labcrew_session_wait_seconds",
    "From asking for a session to its first claim, in line and in the queue.",
    ("graph",),
    buckets=(0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600),
)
STEP_SECONDS = Histogram(
    "labcrew_step_duration_seconds",
    "A step of a session, from when its last run began to its commit.",
    ("node",),
    buckets=(0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900),
)
STEP_ERRORS = Counter(
    "labcrew_step_errors_total", "Steps that failed their session, by whose the cause was.", ("node", "cause")
)
FITS = Counter("labcrew_fits_total", "Fits that a worker ran to an end.", ("status",))
FIT_SECONDS = Histogram(
    "labcrew_fit_duration_seconds",
    "A fit, from its claim to its result.",
    buckets=(0.1, 0.5, 1, 5, 15, 30, 60, 120, 300, 900),
)
LEASE_LOSSES = Counter(
    "labcrew_lease_losses_total", "Leases that ran out and were taken over: their holder died or hung.", ("of",)
)
SWEEPER_FINDS = Counter(
    "labcrew_sweeper_finds_total", "What the sweeper had to wake, because nobody else did.", ("what",)
)
QUESTIONS = Counter("labcrew_questions_asked_total", "What sessions asked of their users.", ("kind",))
JOBS_DROPPED = Counter(
    "labcrew_jobs_dropped_total", "Wake-ups that Redis did not take; the sweeper sends them again."
)
