"""Metrics of the API: requests, streams and refusals."""

from prometheus_client import Counter, Gauge, Histogram

REQUEST_SECONDS = Histogram(
    "labcrew_http_request_duration_seconds",
    "Time to answer a request; of a stream, until it ended.",
    ("method", "route", "status"),
    buckets=(0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)
OPEN_STREAMS = Gauge("labcrew_streams_open", "Sockets and event streams that are open now.", ("transport",))
SLOW_CLIENTS = Counter(
    "labcrew_slow_clients_cut_total", "Clients that were cut because they sent or read too slowly.", ("where",)
)
REFUSALS = Counter("labcrew_limit_refusals_total", "Requests refused because a limit was reached.", ("limit",))
SIGN_INS = Counter("labcrew_sign_ins_total", "Attempts to sign in.", ("outcome",))

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def observe_request(method: str, route: str | None, status: int, seconds: float) -> None:
    """Count one request. `route`: the template that matched, or None. An unknown method is `other`."""
    method_label = method if method in METHODS else "other"
    REQUEST_SECONDS.labels(method_label, route or "unmatched", status).observe(seconds)
