"""What an operator can watch. Labels are few and closed: never an id, never user data."""

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, Counter, Gauge, Histogram, generate_latest

_BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)

REQUEST_SECONDS = Histogram(
    "labcrew_http_request_seconds", "Time to answer a request.", ("method", "route", "status"), buckets=_BUCKETS
)
OPEN_STREAMS = Gauge("labcrew_open_streams", "Sockets and event streams that are open now.", ("transport",))
SIGN_INS = Counter("labcrew_sign_ins_total", "Attempts to sign in.", ("outcome",))
SESSIONS_CREATED = Counter("labcrew_sessions_created_total", "Sessions that were asked for.")

JOBS_DROPPED = Counter(
    "labcrew_jobs_dropped_total", "Wake-ups that Redis did not take; the sweeper sends them again."
)


def exposition() -> tuple[bytes, str]:
    """This process's figures and their media type, in Prometheus's text format."""
    return generate_latest(REGISTRY), CONTENT_TYPE_LATEST
