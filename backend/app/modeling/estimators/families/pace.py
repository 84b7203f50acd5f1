"""How fast a boosting family may learn, so that it stops by itself inside its share of the time."""

import time
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

LEARNED = 25.0
"""Rounds times learning rate after which a boosted model has, as a rule, learned what it can."""

SLOWEST, FASTEST = 0.02, 0.3
DEFAULT_RATE, DEFAULT_ROUNDS = 0.05, 500
PROBE_ROUNDS = 8
MIN_ROUNDS = 200
"""With time for fewer, one fold is better learned well than all of them badly."""


@dataclass(frozen=True)
class Pace:
    """`rounds`: never more than these. `patience`: rounds without a gain after which it stops."""

    learning_rate: float
    rounds: int
    patience: int


def pace_for(seconds: float | None, round_s: float, rate: float | None = None) -> Pace:
    """The pace for a share of time when one round takes `round_s`; without a share, one that counts alone.

    `rate`: a learning rate that was asked for; then only the rounds follow from the time.
    """
    if seconds is None:
        return _pace(rate or DEFAULT_RATE, DEFAULT_ROUNDS)
    affordable = max(int(seconds / max(round_s, 1e-7)), 5)
    wanted = rate or min(max(LEARNED / affordable, SLOWEST), FASTEST)
    return _pace(wanted, min(affordable, int(4 * LEARNED / wanted)))


def _pace(rate: float, rounds: int) -> Pace:
    rate = float(f"{rate:.2g}")
    return Pace(rate, rounds, patience=int(min(max(2.5 / rate, 15), 120)))


class Clock:
    """Says whether a share of time is used up; never without a share."""

    def __init__(self, seconds: float | None, at_most: float | None = None) -> None:
        now = time.perf_counter()
        self._end = None if seconds is None else now + seconds
        self._last = self._end if at_most is None else now + at_most
        self._ticks = [now]

    def extend(self, seconds: float) -> None:
        """Take as many seconds from now on as are wanted, where the share has fewer and the limit allows it."""
        if self._end is not None and self._last is not None:
            self._end = min(max(self._end, time.perf_counter() + seconds), max(self._last, self._end))

    def tick(self) -> None:
        """A round has ended."""
        self._ticks.append(time.perf_counter())

    @property
    def round_s(self) -> float:
        """What a round usually takes: the first one also warms up."""
        return median(after - before for before, after in pairwise(self._ticks))

    @property
    def spent_s(self) -> float:
        return time.perf_counter() - self._ticks[0]

    @property
    def left_s(self) -> float | None:
        return None if self._end is None else self._end - time.perf_counter()

    @property
    def is_up(self) -> bool:
        return self._end is not None and time.perf_counter() >= self._end
