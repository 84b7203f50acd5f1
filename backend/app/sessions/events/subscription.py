"""The subscription of one watcher to a session: its position and its pending events."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from app.errors import TooMany
from app.sessions.events.events import TERMINAL, StepFinished, ToolCalled
from app.sessions.events.serialization import EventMessage

MAX_PENDING_EVENTS = 2000
"""Events that a slow watcher may leave unread: bounds its memory at about 2 MB, at a kilobyte each."""
TERMINAL_KINDS = frozenset(event.model_fields["kind"].default for event in TERMINAL)

_CALLED, _STEP_FINISHED = (event.model_fields["kind"].default for event in (ToolCalled, StepFinished))

Push = Callable[[Sequence[EventMessage]], bool]
"""Sends events to a client without waiting. Returns False if the client is not ready for them."""


class FellBehind(TooMany):
    """The watcher reads too slowly and should reconnect with its cursor."""


@dataclass(eq=False)
class Subscription:
    """The position of a watcher. `last_number`: of the last durable event that it received.

    With `push`, an event that is next in order is sent at once, so that a thousand watchers of one event need
    no task each. All others wait for `next_batch`.
    """

    last_number: int
    push: Push | None = None
    queue_position: tuple[int, int] | None = None
    """(place, length) of the admission queue that was announced last."""
    is_complete: bool = False
    """The session's last event was pushed."""
    _pending: deque[EventMessage] = field(default_factory=deque)
    _known_calls: set[str] = field(default_factory=set)
    """Calls of the running step that were announced."""
    _not_pushed: list[EventMessage] = field(default_factory=list)
    _wake_up: asyncio.Event = field(default_factory=asyncio.Event)
    _behind: bool = False
    _overrun: bool = False
    _idle: bool = False

    def receive(self, messages: Sequence[EventMessage]) -> None:
        messages = [message for message in messages if not self._is_repeated(message)]
        if len(self._pending) + len(messages) > MAX_PENDING_EVENTS:
            self._overrun = True
        else:
            self._pending.extend(messages)
        if not self._try_push():
            self._wake_up.set()

    def _is_repeated(self, message: EventMessage) -> bool:
        """Tell if a call was announced before: running calls are announced again for those who join late."""
        if message.kind == _STEP_FINISHED:
            self._known_calls.clear()
        if message.kind != _CALLED:
            return False
        # The time, which differs, is the first member of a live event.
        call = message.data.partition(",")[2]
        is_known = call in self._known_calls
        self._known_calls.add(call)
        return is_known

    def mark_behind(self) -> None:
        """Have rows read next: they hold events that were not received."""
        self._behind = True
        self._wake_up.set()

    async def next_batch(self) -> list[EventMessage]:
        """Wait for the next events. Empty if rows must be read, or after the last event. Raises FellBehind."""
        while not self._overrun:
            batch = self._not_pushed or self._take_next()
            self._not_pushed = []
            if batch:
                return batch
            if self._behind or self.is_complete:
                self._behind = False
                return []
            self._wake_up.clear()
            self._idle = True
            try:
                await self._wake_up.wait()
            finally:
                self._idle = False
        raise FellBehind("fell_behind", "The stream was read too slowly. Reconnect with the last cursor.")

    def _try_push(self) -> bool:
        """Push all pending events. Return True if the waiting task has nothing left to do."""
        # Only while the task waits: what it has taken, and not sent yet, must not be overtaken.
        if self.push is None or self._overrun or not self._idle or self._wake_up.is_set():
            return False
        batch = self._take_next()
        if batch and not self.push(batch):
            self._not_pushed = batch
            return False
        self.is_complete = bool(batch) and batch[-1].kind in TERMINAL_KINDS
        return not (self._behind or self.is_complete)

    def _take_next(self) -> list[EventMessage]:
        """Take the pending events up to a missing number, after which rows must be read."""
        batch: list[EventMessage] = []
        while self._pending:
            message = self._pending.popleft()
            if message.seq is None:
                batch.append(message)
            elif message.seq == self.last_number + 1:
                batch.append(message)
                self.last_number = message.seq
            elif message.seq > self.last_number:
                self._behind = True
                break
        return batch
