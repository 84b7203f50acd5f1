"""Learning rate and rounds of a boosting family for its share of the time, and the clock of that share."""

import time
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

ROUNDS_TIMES_RATE = 25.0
"""Rounds times learning rate at which boosted models usually stop improving."""

MIN_RATE, MAX_RATE = 0.02, 0.3
"""Learning rates: slower ones gain little, faster ones overfit."""
DEFAULT_RATE, DEFAULT_ROUNDS = 0.05, 500
"""Pace without a time limit; their product is ROUNDS_TIMES_RATE."""
MIN_FINISHED_ROUNDS = int(ROUNDS_TIMES_RATE / MAX_RATE)
"""Rounds that a fit needs at the fastest rate. With time for fewer it learns from fewer rows: a fit that is cut
says little about its family."""
PROBE_ROUNDS = 8
"""Rounds that measure the time of a round; the first also warms up."""
MIN_ROUNDS = 200
"""With time for fewer rounds, a fit takes more than its share: one good fold is better than several bad
ones."""


@dataclass(frozen=True)
class Pace:
    """`rounds`: maximum. `patience`: rounds without a lower loss after which training stops."""

    learning_rate: float
    rounds: int
    patience: int


def choose_pace(seconds: float | None, round_s: float, rate: float | None = None) -> Pace:
    """Choose the pace for a time limit if one round takes `round_s`; without a limit, the default pace.

    `rate`: a fixed learning rate; then only the rounds follow from the time.
    """
    if seconds is None:
        return _pace(rate or DEFAULT_RATE, DEFAULT_ROUNDS)
    affordable = max(int(seconds / max(round_s, 1e-7)), 5)
    learning_rate = rate or min(max(ROUNDS_TIMES_RATE / affordable, MIN_RATE), MAX_RATE)
    # Four times as many rounds as are usually needed: a table that goes on improving may use them.
    return _pace(learning_rate, min(affordable, int(4 * ROUNDS_TIMES_RATE / learning_rate)))


def _pace(rate: float, rounds: int) -> Pace:
    # Two digits, so that the rate in the settings is the one that was used.
    rate = float(f"{rate:.2g}")
    return Pace(rate, rounds, patience=int(min(max(2.5 / rate, 15), 120)))


class Clock:
    """Measures rounds against a time limit; never expires without one."""

    def __init__(self, seconds: float | None, max_seconds: float | None = None) -> None:
        now = time.perf_counter()
        self._end = None if seconds is None else now + seconds
        self._last = self._end if max_seconds is None else now + max_seconds
        self._ticks = [now]

    def extend(self, seconds: float) -> None:
        """Extend the limit to so many seconds from now, if that is later and within `max_seconds` of the
        start."""
        if self._end is not None and self._last is not None:
            self._end = min(max(self._end, time.perf_counter() + seconds), max(self._last, self._end))

    def end_round(self) -> None:
        """Record the end of a round."""
        self._ticks.append(time.perf_counter())

    def restart_rounds(self) -> None:
        """Count rounds from now on; the limit stays."""
        self._ticks = [time.perf_counter()]

    @property
    def round_count(self) -> int:
        """Rounds that ended."""
        return len(self._ticks) - 1

    @property
    def round_s(self) -> float:
        """Median seconds of a round: the first one also warms up."""
        return median(end - start for start, end in pairwise(self._ticks))

    @property
    def elapsed_s(self) -> float:
        return time.perf_counter() - self._ticks[0]

    @property
    def remaining_s(self) -> float | None:
        return None if self._end is None else self._end - time.perf_counter()

    @property
    def is_expired(self) -> bool:
        return self._end is not None and time.perf_counter() >= self._end
