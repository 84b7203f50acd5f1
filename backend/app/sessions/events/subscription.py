"""One watcher's place in a session's events: what it has seen, and what it has heard and not yet got."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from app.errors import TooMany
from app.sessions.events.events import TERMINAL
from app.sessions.events.serialization import EventMessage

MAX_PENDING_EVENTS = 2000
TERMINAL_KINDS = frozenset(event.model_fields["kind"].default for event in TERMINAL)

Push = Callable[[Sequence[EventMessage]], bool]
"""Takes events at once; False when its client is not ready for them. Never waits."""


class FellBehind(TooMany):
    """The watcher reads too slowly: it should come back with its cursor."""


@dataclass(eq=False)
class Subscription:
    """`seen`: number of the last durable event that the watcher got.

    With `push`, what is heard while nothing is before it goes there in the same moment: a thousand watchers of
    one event cost no task each. Everything else waits for `next`.
    """

    last_number: int
    push: Push | None = None
    queue_position: tuple[int, int] | None = None
    """In the line of sessions, as the watcher was told last."""
    is_complete: bool = False
    """The last event of all was pushed."""
    _waiting: deque[EventMessage] = field(default_factory=deque)
    _refused: list[EventMessage] = field(default_factory=list)
    _bell: asyncio.Event = field(default_factory=asyncio.Event)
    _behind: bool = False
    _overrun: bool = False
    _idle: bool = False

    def receive(self, told: Sequence[EventMessage]) -> None:
        if len(self._waiting) + len(told) > MAX_PENDING_EVENTS:
            self._overrun = True
        else:
            self._waiting.extend(told)
        if not self._pushed():
            self._bell.set()

    def mark_behind(self) -> None:
        """There is something in the rows."""
        self._behind = True
        self._bell.set()

    async def next_batch(self) -> list[EventMessage]:
        """What comes next; nothing when rows must be read, or when it is over. Raises FellBehind."""
        while not self._overrun:
            batch = self._refused or self._in_order()
            self._refused = []
            if batch:
                return batch
            if self._behind or self.is_complete:
                self._behind = False
                return []
            self._bell.clear()
            self._idle = True
            try:
                await self._bell.wait()
            finally:
                self._idle = False
        raise FellBehind("fell_behind", "The stream was read too slowly; come back with the last cursor.")

    def _pushed(self) -> bool:
        """Whether all that was heard has gone, and nobody need wake."""
        if self.push is None or self._overrun or not self._idle or self._bell.is_set():
            return False
        batch = self._in_order()
        if batch and not self.push(batch):
            self._refused = batch
            return False
        self.is_complete = bool(batch) and batch[-1].kind in TERMINAL_KINDS
        return not (self._behind or self.is_complete)

    def _in_order(self) -> list[EventMessage]:
        """What was heard and is next. Where a number is missing, what comes after is in the rows."""
        batch: list[EventMessage] = []
        while self._waiting:
            one = self._waiting.popleft()
            if one.seq is None:
                batch.append(one)
            elif one.seq == self.last_number + 1:
                batch.append(one)
                self.last_number = one.seq
            elif one.seq > self.last_number:
                self._behind = True
                break
        return batch
