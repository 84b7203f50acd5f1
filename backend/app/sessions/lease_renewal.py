"""Renewal of a lease in the background of the work that it protects, and announcements that hasten it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping
from typing import Protocol, TypeVar
from uuid import UUID

from app.db.pool import is_away


class LeaseHolder(Protocol):
    """Work under a lease. Setting `recheck` renews the lease at once, which reads its row."""

    recheck: asyncio.Event


class Rechecks:
    """Events that have the leases of an event loop renewed at once, by session.

    An event is listed before its lease is claimed: a cancellation that follows the claim in the database may be
    announced before the loop has read the answer to the claim.
    """

    def __init__(self) -> None:
        self._listeners: set[tuple[UUID, asyncio.Event]] = set()

    @contextlib.contextmanager
    def listen(self, session_id: UUID) -> Iterator[asyncio.Event]:
        """List an event of a session while the block runs."""
        listener = (session_id, asyncio.Event())
        self._listeners.add(listener)
        try:
            yield listener[1]
        finally:
            self._listeners.discard(listener)

    def announce(self, session_id: UUID) -> None:
        """Recheck the leases of a session: its row has changed."""
        for listener_id, event in self._listeners:
            if listener_id == session_id:
                event.set()

    def announce_all(self) -> None:
        """Recheck every lease: announcements may have been missed."""
        for _, event in self._listeners:
            event.set()


Key = TypeVar("Key")
Holder = TypeVar("Holder", bound=LeaseHolder)


@contextlib.asynccontextmanager
async def renew_in_background(
    running: MutableMapping[Key, Holder],
    key: Key,
    holder: Holder,
    renew: Callable[[], Awaitable[bool]],
    interval_s: float,
) -> AsyncIterator[None]:
    """Renew a lease while the block runs, with its holder listed in `running`.

    `renew` is called every `interval_s` seconds and when `holder.recheck` is set, until it returns False. It
    is called again while the database is away: the lease may still be valid afterwards.
    """
    running[key] = holder
    renewal = asyncio.create_task(_renew(holder.recheck, renew, interval_s))
    try:
        yield
    finally:
        renewal.cancel()
        # A new holder of the same key may have been listed meanwhile.
        if running.get(key) is holder:
            del running[key]


async def _renew(recheck: asyncio.Event, renew: Callable[[], Awaitable[bool]], interval_s: float) -> None:
    is_valid = True
    while is_valid:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(interval_s):
                await recheck.wait()
        # Before the renewal: an announcement that comes while it runs causes another one.
        recheck.clear()
        try:
            is_valid = await renew()
        except Exception as error:
            if not is_away(error):
                raise
