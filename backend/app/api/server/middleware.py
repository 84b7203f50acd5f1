"""ASGI middleware of every request: id, size limit, safe headers, access log."""

import asyncio
import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4

import structlog
from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.exception_handlers import problem, unknown_problem
from app.observability.metrics.api_requests import SLOW_CLIENTS, observe_request

log = structlog.get_logger("labcrew.access")

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{8,64}")

SAFE_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
MAX_JSON_DEPTH = 40
"""Levels; above the deepest valid request, and far below the recursion limit of the JSON parser."""
MAX_PAUSE_S = 20.0
"""Seconds without a byte of the body."""
MIN_BYTES_PER_S = 4096
"""Mean rate of a body, about that of a modem; slower clients hold a connection and its memory for too long."""
MAX_SEND_S = 30.0
"""Seconds that a client may take to accept one part of a response."""
CUT = "labcrew.cut"
"""Extension of the ASGI scope by `EdgeProtocol`: its `now` drops the connection at once."""

_TOO_SLOW = (
    f"The body arrived too slowly: nothing for {MAX_PAUSE_S:g} s, or under {MIN_BYTES_PER_S} bytes a second."
)
_CLOSE = {"Connection": "close"}
_STRICT_POLICY = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
_NOT_STORED = (b"cache-control", b"no-store")


class Envelope:
    """Give each request an id, log and measure it, and answer 500 for an unhandled exception."""

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
        except ClientTooSlow:
            log.info("client_too_slow", **_log_fields(scope))
        # In the middle of its body, or while it was worked on: no failure of the service.
        except ClientDisconnect:
            log.info("client_left", **_log_fields(scope))
        except Exception:
            log.exception("request_failed", method=scope["method"], **_log_fields(scope))
            if status:
                raise  # the response has begun: the server must cut the connection
            await unknown_problem(scope["request_id"])(scope, receive, send_named)
        finally:
            _log_request(scope, status, time.perf_counter() - started_at)


class BodyLimit:
    """Refuse a body over the limit of its path, by its declared length or while it arrives.

    `larger`: path patterns with limits of their own, in bytes; the first match counts. The depth of JSON is
    checked where the limit is at most `json_bytes`; a larger body is an upload, which is not parsed here.
    """

    def __init__(
        self,
        app: ASGIApp,
        limit_bytes: int,
        larger: Sequence[tuple[str, int]] = (),
        json_bytes: int = 16 << 20,
    ) -> None:
        self.app = app
        self.limit_bytes = limit_bytes
        self.json_bytes = json_bytes
        self.larger = tuple((re.compile(pattern), limit) for pattern, limit in larger)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = self._limit(scope["path"])
        headers = Headers(scope=scope)
        declared = headers.get("content-length", "0")
        if declared.isdecimal() and int(declared) > limit:
            refusal = problem(413, "body_too_large", _too_large(limit), scope.get("request_id"), headers=_CLOSE)
            await refusal(scope, receive, send)
            return
        # The first of several, in any case of its letters, as the parser of the body takes it.
        is_json = "json" in headers.get("content-type", "").lower()
        body = _LimitedBody(receive, limit, pieces=[] if is_json and limit <= self.json_bytes else None)
        await self.app(scope, body.receive, send)

    def _limit(self, path: str) -> int:
        return next((limit for pattern, limit in self.larger if pattern.fullmatch(path)), self.limit_bytes)


@dataclass
class _LimitedBody:
    """The body of a request while it arrives, with limits of size (bytes), pace and depth."""

    source: Receive
    limit: int
    pieces: list[bytes] | None
    """Bytes of a JSON body that have arrived; None for a body that is not checked."""
    arrived: int = 0
    waited_s: float = 0.0
    is_complete: bool = False

    async def receive(self) -> Message:
        if self.is_complete:
            return await self.source()  # waits for the client to leave
        waiting_since = time.monotonic()
        try:
            async with asyncio.timeout(self.timeout_s):
                message = await self.source()
        except TimeoutError:
            SLOW_CLIENTS.labels("body").inc()
            # Raised where the route reads the body, which fails with it.
            raise HTTPException(408, _TOO_SLOW, _CLOSE) from None
        self.waited_s += time.monotonic() - waiting_since
        self.arrived += len(message.get("body", b""))
        self.is_complete = not message.get("more_body", False)
        if self.arrived > self.limit:
            raise HTTPException(413, _too_large(self.limit), _CLOSE)
        if self.pieces is not None:
            self.pieces.append(message.get("body", b""))
            if self.is_complete and is_too_deep(b"".join(self.pieces)):
                raise BodyTooDeep
        return message

    @property
    def timeout_s(self) -> float:
        """Seconds for the next piece: a pause is limited, and so is the mean rate."""
        return max(0.0, min(MAX_PAUSE_S, MAX_PAUSE_S + self.arrived / MIN_BYTES_PER_S - self.waited_s))


# An unclosed text matches too, to the end of the body: a search that fails would begin again at each quote.
_TEXTS = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def is_too_deep(body: bytes) -> bool:
    """Check if JSON is nested deeper than MAX_JSON_DEPTH, valid or not: its parser would exhaust the stack."""
    encoding = json.detect_encoding(body)
    if not encoding.startswith("utf-8"):
        # As its parser decodes it: in two or four bytes a character, an escaped quote is not seen as one.
        body = body.decode(encoding, "ignore").encode()
    # Most bodies have few brackets at all, and are looked at no further.
    if body.count(b"[") + body.count(b"{") <= MAX_JSON_DEPTH:
        return False
    # Brackets inside texts do not nest.
    brackets = _TEXTS.sub(b"", body).translate(None, _NO_BRACKETS)
    # Each round removes the innermost pairs: what is left after so many rounds is deeper.
    for _ in range(MAX_JSON_DEPTH):
        outer = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if outer == brackets:
            return len(outer) > MAX_JSON_DEPTH
        brackets = outer
    return bool(brackets)


class BodyTooDeep(HTTPException):
    """The body is nested too deep."""

    code = "json_too_deep"

    def __init__(self) -> None:
        super().__init__(400, f"The body is nested deeper than {MAX_JSON_DEPTH} levels.")


class SlowClientMiddleware:
    """Disconnect a client that does not read its response."""

    def __init__(self, app: ASGIApp, send_s: float = MAX_SEND_S) -> None:
        self.app = app
        self.send_s = send_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_in_time(message: Message) -> None:
            try:
                async with asyncio.timeout(self.send_s):
                    await send(message)
            except TimeoutError:
                SLOW_CLIENTS.labels("answer").inc()
                if CUT in scope.get("extensions", {}):
                    # Dropped, not closed: a close waits until the client has read what is buffered.
                    scope["extensions"][CUT]["now"]()
                raise ClientTooSlow from None

        await self.app(scope, receive, send_in_time if scope["type"] == "http" else send)


class ClientTooSlow(OSError):
    """The client reads too slowly. Its connection is cut."""


def _too_large(limit: int) -> str:
    return f"The body is over the limit of {limit} bytes."


def _request_id(scope: Scope) -> str:
    """Return the id that the client sent, if it is harmless, so that a trace can cross services."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
            return str(value.decode())
    return uuid4().hex


def _missing_headers(message: Message, scope: Scope) -> list[tuple[bytes, bytes]]:
    """Return the default headers that the route has not set itself."""
    present = {name.lower() for name, _ in message["headers"]}
    defaults = (*SAFE_HEADERS, _STRICT_POLICY, _NOT_STORED)
    missing = [header for header in defaults if header[0] not in present]
    return [*missing, (b"x-request-id", scope["request_id"].encode())]


_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def _log_fields(scope: Scope) -> dict[str, str]:
    """Return the route and the ids in its path. Other parts of a path are free text of the client."""
    ids = {
        name: str(value) for name, value in scope.get("path_params", {}).items() if _ID.fullmatch(str(value))
    }
    return {"route": getattr(scope.get("route"), "path", "unmatched"), **ids}


def _log_request(scope: Scope, status: int, seconds: float) -> None:
    route = getattr(scope.get("route"), "path", None)
    observe_request(scope["method"], route, status, seconds)
    log.info(
        "request",
        method=scope["method"],
        status=status,
        duration_ms=round(seconds * 1000, 2),
        **_log_fields(scope),
    )
