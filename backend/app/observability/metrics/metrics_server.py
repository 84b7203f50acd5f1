"""Listener for `/metrics` of a worker, in a thread: it answers even while the event loop hangs."""

import hmac
import ipaddress
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import structlog

from app.errors import Conflict
from app.observability.metrics.exposition import MEDIA_TYPE

log = structlog.get_logger(__name__)

_MAX_REQUEST_S = 5.0
"""Seconds that a client may take to send its request: each one occupies a thread."""


def open_socket(host: str, port: int) -> socket.socket:
    """Open a listening socket; port 0 is any free one. Raises Conflict when the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise Conflict(
            "metrics_port_taken",
            f"Metrics cannot be served on {host}:{port} ({error.strerror}). "
            "Give each worker of a host a METRICS_PORT of its own.",
        ) from None


def may_read(authorization: str | None, token: str | None) -> bool:
    """Return True if the header carries the token, or no token is required."""
    if token is None:
        return True
    # In constant time: an ordinary comparison would tell how much of a guess is right.
    return hmac.compare_digest((authorization or "").encode(), f"Bearer {token}".encode())


def is_loopback(host: str) -> bool:
    """Return True for an address that only this machine reaches; a host name must have been resolved."""
    address = ipaddress.ip_address(host.partition("%")[0])
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


@contextmanager
def serve_metrics(listening: socket.socket, figures: Callable[[], bytes], token: str | None) -> Iterator[None]:
    """Serve metrics on `listening`, a socket that listens already, while the block runs; then close it.

    Without a token they are served on loopback only: metrics show what a service does, and where it fails.
    """
    closed = token is None and not is_loopback(listening.getsockname()[0])
    if closed:
        log.warning("metrics_closed", why="METRICS_TOKEN is not set, and METRICS_HOST is not loopback")

    class Scrape(BaseHTTPRequestHandler):
        timeout = _MAX_REQUEST_S
        server_version, sys_version = "labcrew", ""

        def do_GET(self) -> None:
            if self.path.partition("?")[0] != "/metrics":
                self.send_error(HTTPStatus.NOT_FOUND)
            elif closed:
                self.send_error(
                    HTTPStatus.UNAUTHORIZED, explain="Set METRICS_TOKEN, and send it as a bearer token."
                )
            elif not may_read(self.headers.get("authorization"), token):
                self.send_error(HTTPStatus.UNAUTHORIZED)
            else:
                body = figures()
                self.send_response(HTTPStatus.OK)
                self.send_header("Content-Type", MEDIA_TYPE)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Log nothing: a scrape comes every few seconds."""

    server = ThreadingHTTPServer(listening.getsockname()[:2], Scrape, bind_and_activate=False)
    # Whoever starts the workers binds their ports, so that a port that is taken is known at once.
    server.socket.close()
    server.socket = listening
    thread = threading.Thread(target=server.serve_forever, name="metrics", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
