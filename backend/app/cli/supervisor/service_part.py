"""One part of the service and when to start it again."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from app.servers.child_process import Daemon

STEADY_S = 10.0
"""A part that lived this long had started well: its death does not count against it."""

MAX_QUICK_DEATHS = 6
"""Starts in a row that end within STEADY_S before the process is given up: a crash at start repeats."""


def pause_before_restart_s(quick_deaths: int) -> float | None:
    """At once after the first death, then ever later; None: give it up."""
    if quick_deaths >= MAX_QUICK_DEATHS:
        return None
    return 0.0 if quick_deaths <= 1 else min(0.25 * 2**quick_deaths, 5.0)


@dataclass
class SupervisedProcess:
    """`start` starts it, `restart` starts it again, else alike; `daemon` gives the process."""

    name: str
    daemon: Callable[[], Daemon]
    start: Callable[[], object]
    restart: Callable[[], object] | None = None
    quick_deaths: int = field(default=0, init=False)
    started_at: float = field(default=0.0, init=False)
    due_at: float | None = field(default=None, init=False)

    def begin(self) -> None:
        self.started_at, self.due_at = time.monotonic(), None
        self.start()

    def begin_again(self) -> None:
        self.started_at, self.due_at = time.monotonic(), None
        (self.restart or self.start)()

    def note_death(self) -> float | None:
        """Record a death and return the seconds before the restart; None: it keeps dying."""
        steady = time.monotonic() - self.started_at >= STEADY_S
        # A death after a long life counts as the first, so that one a day never adds up to giving up.
        self.quick_deaths = 1 if steady else self.quick_deaths + 1
        pause_s = pause_before_restart_s(self.quick_deaths)
        self.due_at = None if pause_s is None else time.monotonic() + pause_s
        return pause_s
