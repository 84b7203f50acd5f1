"""The words of an answer while a chat model writes it, published so that who joins late gets them all."""

import time
from collections.abc import Callable
from dataclasses import dataclass

REPEAT_S = 1.0
"""Seconds after which all words so far are published again instead of the new ones alone. Live events are not
stored: a watcher that lost its connection in the middle of an answer waits so long for the words before it. An
answer of a minute and 5,000 characters is sent some thirty times over by that, 150 kB on the loopback."""


@dataclass
class WrittenWords:
    """The words of one answer. `publish` is called with the place of a part's first character, and the part."""

    publish: Callable[[int, str], None]
    clock: Callable[[], float] = time.monotonic
    _words: str = ""
    _repeated_at: float | None = None

    def add(self, part: str) -> None:
        """Publish a part of the answer, or from time to time the answer so far."""
        start = len(self._words)
        self._words += part
        now = self.clock()
        if self._repeated_at is None:
            self._repeated_at = now
        elif now - self._repeated_at >= REPEAT_S:
            self._repeated_at, start = now, 0
        self.publish(start, self._words[start:])
