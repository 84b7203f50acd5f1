"""What an operator decides about signing in."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class AuthConfig:
    """Times in seconds. `registration`: `closed` leaves new accounts to `labcrew user`."""

    access_ttl_s: float = 900
    refresh_ttl_s: float = 30 * 86_400
    standing_ttl_s: float = 10
    """How long a process may go on accepting a credential that another process has revoked."""
    registration: Literal["open", "closed"] = "open"
    sign_in_tries: int = 20
    """Failed sign-ins of one address, and ten times as many from one host, in each window."""
    registrations: int = 100
    """New accounts from one host in each window."""
    throttle_window_s: int = 600
