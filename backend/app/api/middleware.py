"""What surrounds every request: an id, a size limit, safe headers, a line in the log. Pure ASGI."""

import re
import time
from collections.abc import Sequence
from uuid import uuid4

import structlog
from fastapi import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.failures import problem, unknown_problem
from app.observability.metrics import REQUEST_SECONDS

log = structlog.get_logger("labcrew.access")

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{8,64}")

SAFE_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_STRICT_POLICY = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
_NOT_STORED = (b"cache-control", b"no-store")


class Envelope:
    """Names the request, logs and measures it, and turns what nobody caught into a 500."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        request_id = scope["request_id"] = _request_id(scope)
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id)
        if scope["type"] == "websocket":
            await self.app(scope, receive, send)
        else:
            await self._http(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        started_at = time.perf_counter()
        status = 0

        async def send_named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *_missing_headers(message, scope)]
            await send(message)

        try:
            await self.app(scope, receive, send_named)
        except Exception:
            log.exception("request_failed", method=scope["method"], path=scope["path"])
            if status:
                raise  # the answer has begun: the server must cut the connection
            await unknown_problem(scope["request_id"])(scope, receive, send_named)
        finally:
            _account(scope, status, time.perf_counter() - started_at)


class BodyLimit:
    """Refuses a body over the limit of its path, by its declared length or while it arrives.

    `larger`: path patterns with a limit of their own, in bytes; the first that matches counts.
    """

    def __init__(self, app: ASGIApp, limit_bytes: int, larger: Sequence[tuple[str, int]] = ()) -> None:
        self.app = app
        self.limit_bytes = limit_bytes
        self.larger = tuple((re.compile(pattern), limit) for pattern, limit in larger)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = self._limit(scope["path"])
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > limit:
            refusal = problem(413, "body_too_large", _too_large(limit), scope.get("request_id"))
            await refusal(scope, receive, send)
            return
        arrived = 0

        async def receive_limited() -> Message:
            nonlocal arrived
            message = await receive()
            arrived += len(message.get("body", b""))
            if arrived > limit:
                raise HTTPException(413, _too_large(limit))
            return message

        await self.app(scope, receive_limited, send)

    def _limit(self, path: str) -> int:
        return next((limit for pattern, limit in self.larger if pattern.fullmatch(path)), self.limit_bytes)


def _too_large(limit: int) -> str:
    return f"The body is over the limit of {limit} bytes."


def _request_id(scope: Scope) -> str:
    """The caller's own id when it is harmless, so that a trace can cross services."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
            return str(value.decode())
    return uuid4().hex


def _missing_headers(message: Message, scope: Scope) -> list[tuple[bytes, bytes]]:
    """A route that sets its own content or cache policy keeps it."""
    present = {name.lower() for name, _ in message["headers"]}
    defaults = (*SAFE_HEADERS, _STRICT_POLICY, _NOT_STORED)
    missing = [header for header in defaults if header[0] not in present]
    return [*missing, (b"x-request-id", scope["request_id"].encode())]


def _account(scope: Scope, status: int, seconds: float) -> None:
    route = getattr(scope.get("route"), "path", "unmatched")
    REQUEST_SECONDS.labels(scope["method"], route, status).observe(seconds)
    log.info(
        "request",
        method=scope["method"],
        path=scope["path"],
        status=status,
        duration_ms=round(seconds * 1000, 2),
    )
