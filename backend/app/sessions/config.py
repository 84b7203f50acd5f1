"""How patient a session's machinery is."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SessionsConfig:
    """Times in seconds. Short ones recover sooner from a killed process and cost more statements."""

    lease_s: float = 6.0
    """A driver or fit that has not renewed for so long is taken for dead."""
    renew_s: float = 1.5
    slice_s: float = 1.0
    """A session that has run for so long goes to the end of the queue."""
    sweep_s: float = 1.0
    grace_s: float = 2.0
    """How long a queued wake-up may take before the sweeper sends it again."""
    drain_s: float = 10.0
    """How long a running step may go on after its worker was asked to stop."""
    time_limit_s: float = 3600.0
    """Of a whole session, without the time it waits for its user."""
    most_crashes: int = 10
    """Leases that may run out at one place before the session is given up."""
    most_live_per_owner: int = 0
    """Sessions of one owner that may be live at a time; 0 is no limit."""
