"""A number of seconds that a stage may take, measured while it runs."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Deadline:
    """A number of seconds from now on; None for no limit."""

    limit_s: float | None
    now: Callable[[], float] = time.perf_counter
    slowness: float = 1.0
    """Factor by which work takes longer than on an idle machine, see `time_limits.slowness`."""
    began: float = field(init=False)

    def __post_init__(self) -> None:
        self.began = self.now()

    @property
    def spent_s(self) -> float:
        return self.now() - self.began

    @property
    def left_s(self) -> float:
        return float("inf") if self.limit_s is None else self.limit_s - self.spent_s

    @property
    def working_s(self) -> float | None:
        """Seconds of an idle machine's work that fit into the time left; None for no limit."""
        return None if self.limit_s is None else max(self.left_s, 0.0) / self.slowness

    @property
    def is_over(self) -> bool:
        return self.left_s <= 0

    def allows(self, seconds: float) -> bool:
        """Return true if work of so many seconds ends in time."""
        return self.left_s >= seconds

    def within(self, share: float) -> "Deadline":
        """Make a deadline over this share of the time left."""
        limit_s = None if self.limit_s is None else max(share * self.left_s, 0.0)
        return Deadline(limit_s, self.now, self.slowness)
