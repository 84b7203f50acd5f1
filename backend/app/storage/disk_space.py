"""A full disk: waited for, since somebody may make room, and then said to be full."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from app.errors import is_disk_full
from app.storage.blobs import StoreUnavailable

MAX_WAIT_S = 10.0
_RETRY_INTERVAL_S = 0.25

Result = TypeVar("Result")


async def retry_while_disk_full(
    attempt: Callable[[], Awaitable[Result]], full: StoreUnavailable, patience_s: float = MAX_WAIT_S
) -> Result:
    """Repeat `attempt` while the disk is full; raise `full` after `patience_s` seconds."""
    until = time.monotonic() + patience_s
    while True:
        try:
            return await attempt()
        except OSError as error:
            if not is_disk_full(error):
                raise
            if time.monotonic() > until:
                raise full from error
        await asyncio.sleep(_RETRY_INTERVAL_S)
