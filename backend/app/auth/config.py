"""What an operator decides about signing in and about how much one caller may use."""

from dataclasses import dataclass
from typing import Literal

from app.auth.quotas import NO_QUOTAS, Quotas


@dataclass(frozen=True)
class AuthConfig:
    """Times in seconds. `registration`: `closed` leaves new accounts to `labcrew user`."""

    access_ttl_s: float = 900
    refresh_ttl_s: float = 30 * 86_400
    validity_ttl_s: float = 10
    """How long a process may go on accepting a credential that was revoked without its being told."""
    registration: Literal["open", "closed"] = "open"
    sign_in_tries: int = 20
    """Failed sign-ins at one account from one network before each further one must wait, and for longer."""
    registrations: int = 100
    """New accounts from one network in each window."""
    throttle_window_s: int = 600
    quotas: Quotas = NO_QUOTAS
    """Of each user who has none of their own."""
    address_requests: str = ""
    """Requests of one network address, signed in or not: a rate as in Quotas."""
    address_sockets: int = 0
