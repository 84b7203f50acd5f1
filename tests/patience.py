"""Bounds for waiting on other processes and tasks: they end a test that hangs, never one that is slow.

A test whose outcome depends on a shorter time says why in a mark that `tests/unit/test_clocks.py` knows.
"""

import asyncio
import time
from collections.abc import Callable
from subprocess import Popen
from typing import Any

HANG_GUARD_S = 900.0
"""Seconds. The longest wait of the tests takes 30 s on two quiet processors; beside 24 busy processes on them
a process gets a fourteenth of one."""


def hang_guard() -> asyncio.Timeout:
    """Raise TimeoutError where the block hangs."""
    return asyncio.timeout(HANG_GUARD_S)


async def until(claim: Callable[[], object], every_s: float = 0.01) -> None:
    """Wait until a claim about another process holds; raises TimeoutError."""
    async with hang_guard():
        while not claim():  # noqa: ASYNC110 - another process sets no asyncio.Event
            await asyncio.sleep(every_s)


def wait_until(claim: Callable[[], object], every_s: float = 0.01) -> None:
    """The same without an event loop."""
    end = time.monotonic() + HANG_GUARD_S
    while not claim():
        if time.monotonic() > end:
            raise TimeoutError(f"not so after {HANG_GUARD_S:g} s")
        time.sleep(every_s)


def ended(process: "Popen[Any]") -> int:
    """The exit code of a process that was asked to end; it is killed where it hangs."""
    try:
        return process.wait(HANG_GUARD_S)
    finally:
        process.kill()
