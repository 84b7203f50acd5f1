"""Failures of other services that may pass by themselves."""

from app.errors import Unavailable


class PassingFailure(Unavailable):
    """Nothing came of it now, and the same may be tried again. `wait_s` among its facts: see there."""

    @property
    def wait_s(self) -> float | None:
        """Seconds that the other side asks to wait; None where it does not say."""
        seconds = self.facts.get("wait_s")
        return float(seconds) if isinstance(seconds, int | float) else None
