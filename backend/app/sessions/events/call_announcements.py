"""Announcements of running calls, so that a watcher who joins during a call learns which one runs."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

from app.sessions.events.events import ToolCalled
from app.tasks import cancel_and_wait

REPEAT_S = 2.0
"""Seconds after which a running call is announced again. Live events are not stored: a page that is loaded anew
waits so long for the name of the call. Most calls are over before."""


@contextlib.asynccontextmanager
async def announced(
    emit: Callable[[ToolCalled], None], call: ToolCalled, repeat_s: float = REPEAT_S
) -> AsyncIterator[None]:
    """Announce a call now, and from time to time until it has returned. Subscriptions drop the repetitions."""

    async def repeat() -> None:
        while True:
            await asyncio.sleep(repeat_s)
            emit(call)

    emit(call)
    repeating = asyncio.create_task(repeat(), name="call-announcements")
    try:
        yield
    finally:
        await cancel_and_wait(repeating)
