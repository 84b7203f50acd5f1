"""Ctrl-C of a command: never inside an import, nor between two steps that belong together."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

RETRY_S = 0.02
"""Seconds after which an interrupt is tried again that came inside an import: less than a person notices."""
_IMPORT = "importlib._bootstrap"
"""Module whose functions are on the stack while a module is imported."""


def interrupt_between_imports() -> None:
    """Have Ctrl-C raise KeyboardInterrupt when a running import has ended, and a second one at once.

    Inside an import the exception would leave half a module, and Python turns it into others there.
    """
    pending: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        is_second = number == signal.SIGINT and bool(pending)
        if not is_second and _is_importing(frame):
            pending.append(number)
            # The timer's signal comes to the same function, which looks again; a handler cannot wait itself.
            signal.signal(signal.SIGALRM, interrupt)
            signal.setitimer(signal.ITIMER_REAL, RETRY_S)
            return
        pending.clear()
        signal.setitimer(signal.ITIMER_REAL, 0)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_globals.get("__name__") == _IMPORT:
            return True
        frame = frame.f_back
    return False


@contextmanager
def hold_interrupts() -> Iterator[Callable[[], None]]:
    """Hold Ctrl-C back until the block calls what it is given, or ends. A second one is not held.

    For the main thread.
    """
    former = signal.getsignal(signal.SIGINT)
    pending: list[int] = []

    def hold(number: int, frame: FrameType | None) -> None:
        if pending:
            raise KeyboardInterrupt
        pending.append(number)

    def release() -> None:
        signal.signal(signal.SIGINT, former)
        if pending:
            pending.clear()
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, hold)
    try:
        yield release
    finally:
        signal.signal(signal.SIGINT, former)
    if pending:
        raise KeyboardInterrupt
