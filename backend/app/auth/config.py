"""Settings of sign-in, tokens and callers' quotas."""

from dataclasses import dataclass
from typing import Literal

from app.auth.quotas import NO_QUOTAS, Quotas


@dataclass(frozen=True)
class AuthConfig:
    """Settings of authentication. `registration`: with `closed` only `labcrew user` adds accounts."""

    access_ttl_s: float = 900
    refresh_ttl_s: float = 30 * 86_400
    validity_ttl_s: float = 10
    """Maximum time for which a process accepts a revoked credential if the announcement does not arrive."""
    registration: Literal["open", "closed"] = "open"
    sign_in_tries: int = 20
    """Failed sign-ins at one account from one network before the throttle makes further ones wait."""
    registrations: int = 100
    """New accounts from one network in a window."""
    throttle_window_s: int = 600
    quotas: Quotas = NO_QUOTAS
    """Quotas of users without their own."""
    address_requests: str = ""
    """Rate of requests of one network address, in the notation of Quotas."""
    address_sockets: int = 0
    """Open sockets and event streams of one network address; 0 for no limit."""
