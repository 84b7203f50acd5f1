"""Stop background tasks for good."""

import asyncio
from typing import Any

_ASK_AGAIN_S = 0.5


async def stop(*tasks: "asyncio.Task[Any] | None") -> None:
    """Cancel and wait; more than once, for a library may take a cancellation for a timeout of its own."""
    running = {task for task in tasks if task and not task.done()}
    while running:
        for task in running:
            task.cancel()
        _, running = await asyncio.wait(running, timeout=_ASK_AGAIN_S)
