"""Who may come in how often: one round trip to Redis before anything else is done for a request."""

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.failures import problem_of
from app.api.router import PREFIX
from app.auth.cpu_charges import COMPUTE, whole_seconds
from app.auth.rate_limits import RateMeter, RateUsage, make_refusal, rate_limit_headers
from app.auth.services import AuthServices
from app.observability.metrics.edge import REFUSALS
from app.sandbox.metering import meter_usage

TOO_MANY_CLOSE = 4429
"""As `socket.Close.TOO_MANY`."""

_FREE = frozenset({f"{PREFIX}/healthz", f"{PREFIX}/readyz", f"{PREFIX}/metrics"})

# Beside its request, what else a request must have left: CPU seconds are counted where they are used.
_ALSO: tuple[tuple[re.Pattern[str], str, int], ...] = (
    (re.compile(f"{PREFIX}/(datasets|prices/import)"), "uploads", 1),
    (re.compile(f"{PREFIX}/(datasets|prices/import|lab/agent/sessions|runs|models/[^/]+/.*)"), COMPUTE, 0),
)


class Gate:
    """Takes a request out of the rates of its address and its user, tells both, and refuses with 429.

    The user is whoever the credential seems to be of; whether it holds is asked later.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or not _counts(scope["path"]):
            await self.app(scope, receive, send)
            return
        auth_services: AuthServices = scope["app"].state.auth_services
        readings = await auth_services.rate_limiter.take(_meters(scope, auth_services))
        refused = make_refusal(readings)
        if refused is None:
            with meter_usage() as used:
                await self.app(scope, receive, _telling(send, readings) if readings else send)
            await _charge(auth_services, readings, used.cpu_s)
        elif scope["type"] == "websocket":
            REFUSALS.labels(refused.facts["of"]).inc()
            await _close(receive, send)
        else:
            answer = problem_of(refused, scope.get("request_id"))
            await answer(scope, receive, _telling(send, readings))


def credential_in(sent: Headers) -> str:
    """The API key or bearer token of a request; empty when there is none."""
    scheme, _, token = sent.get("authorization", "").partition(" ")
    return sent.get("x-api-key") or (token.strip() if scheme.lower() == "bearer" else "")


@lru_cache(maxsize=10_000)
def network_of(host: str) -> str:
    """What counts as one address: an IPv4 address, or the network that one IPv6 customer has."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if address.version == 6 and address.ipv4_mapped is None:
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(getattr(address, "ipv4_mapped", None) or address)


def address_of(scope: Any) -> str:
    client = scope.get("client")
    return network_of(client[0]) if client else "local"


async def _charge(auth_services: AuthServices, readings: Sequence[RateUsage], cpu_s: float) -> None:
    """What the request itself computed."""
    for reading in readings:
        if cpu_s and reading.meter.resource == COMPUTE:
            await auth_services.rate_limiter.add(replace(reading.meter, cost=whole_seconds(cpu_s)))


def _counts(path: str) -> bool:
    return path.startswith(f"{PREFIX}/") and path not in _FREE


def _meters(scope: Scope, auth_services: AuthServices) -> list[RateMeter]:
    meters = [RateMeter("address", address_of(scope), auth_services.config.address_requests)]
    credential = credential_in(Headers(scope=scope))
    seems = auth_services.authenticator.peek(credential) if credential else None
    if seems is None:
        return meters
    user_id, quotas = seems
    meters.append(RateMeter("requests", str(user_id), quotas.requests))
    if scope.get("method") == "POST":
        meters += [
            RateMeter(what, str(user_id), getattr(quotas, what), cost)
            for path, what, cost in _ALSO
            if path.fullmatch(scope["path"])
        ]
    return meters


def _telling(send: Send, readings: Sequence[RateUsage]) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *rate_limit_headers(readings)]
        await send(message)

    return send_with_headers


async def _close(receive: Receive, send: Send) -> None:
    """By a code: of a refused handshake a browser sees only that it failed."""
    await receive()
    await send({"type": "websocket.accept"})
    await send({"type": "websocket.close", "code": TOO_MANY_CLOSE, "reason": "Too many requests."})
