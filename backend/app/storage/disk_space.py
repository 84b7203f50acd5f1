"""Retries while a disk is full, since a sweep or an operator may free space."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from app.errors import is_disk_full
from app.storage.blobs import StoreUnavailable

MAX_WAIT_S = 10.0
"""Seconds of waiting by default: short enough for a caller of the API."""
_RETRY_INTERVAL_S = 0.25
"""Seconds between attempts."""

Result = TypeVar("Result")


async def retry_while_disk_full(
    attempt: Callable[[], Awaitable[Result]], full: StoreUnavailable, max_wait_s: float = MAX_WAIT_S
) -> Result:
    """Repeat `attempt` while the disk is full; raise `full` after `max_wait_s` seconds."""
    deadline = time.monotonic() + max_wait_s
    while True:
        try:
            return await attempt()
        except OSError as error:
            if not is_disk_full(error):
                raise
            if time.monotonic() > deadline:
                raise full from error
        await asyncio.sleep(_RETRY_INTERVAL_S)
