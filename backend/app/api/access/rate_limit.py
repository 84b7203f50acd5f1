"""Rate limits of requests: one round trip to Redis before a request is handled."""

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.access.browser_requests import browser_secret
from app.api.exception_handlers import problem_of
from app.api.paths import PREFIX
from app.auth.cpu_charges import COMPUTE, whole_seconds
from app.auth.principal import Principal
from app.auth.rate_limits import RateMeter, RateUsage, make_refusal, rate_limit_headers
from app.auth.services import AuthServices
from app.observability.metrics.api_requests import REFUSALS
from app.sandbox.metering import meter_usage

TOO_MANY_CLOSE = 4429
"""WebSocket close code; equals `socket.Close.TOO_MANY`, which cannot be imported here (a circle)."""

# A balancer and Prometheus ask often, from one address.
_UNLIMITED_PATHS = frozenset({f"{PREFIX}/healthz", f"{PREFIX}/readyz", f"{PREFIX}/metrics"})

_VIEWS = re.compile(f"{PREFIX}/(tables/[^/]+|datasets/[^/]+/preview)")
"""Reads of rows and figures of tables: who scrolls sends ten a second, and must not use up their requests."""

# Further meters by path. The cost of COMPUTE is 0: CPU seconds are charged after they were used.
_EXTRA_METERS: tuple[tuple[re.Pattern[str], str, int], ...] = (
    (re.compile(f"{PREFIX}/(datasets(/example)?|uploads|prices/import)"), "uploads", 1),
    (re.compile(f"{PREFIX}/(datasets(/example)?|uploads/[^/]+/dataset|prices/import)"), COMPUTE, 0),
    (re.compile(f"{PREFIX}/(lab/agent/sessions|runs|models/[^/]+/.*)"), COMPUTE, 0),
)


class RateLimitMiddleware:
    """Charge a request to the rates of its address and its user; answer 429 where a rate is used up.

    The user is read from the credential without verification, which follows in the route.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or not _is_limited(scope["path"]):
            await self.app(scope, receive, send)
            return
        auth_services: AuthServices = scope["app"].state.auth_services
        usages = await auth_services.rate_limiter.take(_meters(scope, auth_services))
        refusal = make_refusal(usages)
        if refusal is None:
            with meter_usage() as request_usage:
                await self.app(scope, receive, _with_rate_headers(send, usages) if usages else send)
            # How much a request computes is not known before it has ended.
            await _charge(auth_services, usages, request_usage.cpu_s)
        elif scope["type"] == "websocket":
            REFUSALS.labels(refusal.facts["of"]).inc()
            await _close(receive, send)
        else:
            answer = problem_of(refusal, scope.get("request_id"))
            await answer(scope, receive, _with_rate_headers(send, usages))


async def take_command(auth_services: AuthServices, principal: Principal) -> None:
    """Charge a command over a socket, at the rate of the user's requests and beside them. Raises TooMany.

    A socket is one request, and takes any number of commands, each of which reads rows or writes some.
    """
    meter = RateMeter("commands", str(principal.user_id), principal.quotas.requests)
    refusal = make_refusal(await auth_services.rate_limiter.take([meter]))
    if refusal is not None:
        REFUSALS.labels(refusal.facts["of"]).inc()
        raise refusal


def read_credential(headers: Headers) -> str:
    """Return the API key or bearer token in the headers of a request; empty if there is none."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return headers.get("x-api-key") or (token.strip() if scheme.lower() == "bearer" else "")


@lru_cache(maxsize=10_000)
def client_network(host: str) -> str:
    """Return an IPv4 address, or the /64 network of an IPv6 address, which one customer has."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if address.version == 6 and address.ipv4_mapped is None:
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(getattr(address, "ipv4_mapped", None) or address)


def client_address(scope: Any) -> str:
    client = scope.get("client")
    return client_network(client[0]) if client else "local"


async def _charge(auth_services: AuthServices, usages: Sequence[RateUsage], cpu_s: float) -> None:
    """Charge the CPU time that the request used."""
    for usage in usages:
        if cpu_s and usage.meter.resource == COMPUTE:
            await auth_services.rate_limiter.add(replace(usage.meter, cost=whole_seconds(cpu_s)))


def _is_limited(path: str) -> bool:
    return path.startswith(f"{PREFIX}/") and path not in _UNLIMITED_PATHS


def _meters(scope: Scope, auth_services: AuthServices) -> list[RateMeter]:
    meters = [RateMeter("address", client_address(scope), auth_services.config.address_requests)]
    credential = read_credential(Headers(scope=scope)) or browser_secret(
        Headers(scope=scope), scope["app"].state.settings.production
    )
    claimed = auth_services.authenticator.peek(credential) if credential else None
    if claimed is None:
        return meters
    user_id, quotas = claimed
    resource = "views" if _VIEWS.fullmatch(scope["path"]) else "requests"
    meters.append(RateMeter(resource, str(user_id), getattr(quotas, resource)))
    if scope.get("method") == "POST":
        meters += [
            RateMeter(resource, str(user_id), getattr(quotas, resource), cost)
            for path, resource, cost in _EXTRA_METERS
            if path.fullmatch(scope["path"])
        ]
    return meters


def _with_rate_headers(send: Send, usages: Sequence[RateUsage]) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *rate_limit_headers(usages)]
        await send(message)

    return send_with_headers


async def _close(receive: Receive, send: Send) -> None:
    """Accept, then close with a code: a browser does not show why a handshake was refused."""
    await receive()
    await send({"type": "websocket.accept"})
    await send({"type": "websocket.close", "code": TOO_MANY_CLOSE, "reason": "Too many requests."})
