"""Bounds for waiting on other processes and tasks: they end a test that hangs, never one that is slow.

A test whose outcome depends on a shorter time says why in a mark that `tests/unit/test_clocks.py` knows.
"""

import asyncio
import functools
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from subprocess import Popen
from typing import Any

HANG_GUARD_S = 900.0
"""Seconds. The longest wait of the tests takes 30 s on two quiet processors; beside 24 busy processes on them
a process gets a fourteenth of one."""


MAX_TEST_S = 1500.0
"""Seconds of one asynchronous test, all its waits together; below `faulthandler_timeout`, which ends the whole
process without a word about its tasks."""


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


def end_when_hanging(test: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """Make an asynchronous test that hangs fail, and say what each of its tasks waits for."""

    @functools.wraps(test)
    async def bounded(*args: Any, **kwargs: Any) -> None:
        report = asyncio.get_running_loop().call_later(MAX_TEST_S, _report_tasks)
        try:
            async with asyncio.timeout(MAX_TEST_S + 1):
                await test(*args, **kwargs)
        finally:
            report.cancel()

    return bounded


def _report_tasks() -> None:
    for task in asyncio.all_tasks():
        print(task.get_name(), *_awaited_places(task.get_coro()), sep="\n  ", file=sys.stderr)  # noqa: T201


def _awaited_places(waiting: Any) -> Iterator[str]:
    """Yield the line at which each coroutine of a chain waits for the next, and what the last one awaits."""
    while waiting is not None:
        kind = next((kind for kind in ("cr", "gi", "ag") if hasattr(waiting, f"{kind}_frame")), None)
        if kind is None:
            yield repr(waiting)
            return
        if frame := getattr(waiting, f"{kind}_frame"):
            yield f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_qualname}"
        waiting = getattr(waiting, "gi_yieldfrom" if kind == "gi" else f"{kind}_await")
