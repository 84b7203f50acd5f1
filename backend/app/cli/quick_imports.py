"""Imports of the command line without what takes time and is of no use to a command."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_UNUSED_MODULES = ("httpx._main",)
"""Optional parts of libraries that nobody here calls. httpx's own command line imports two more libraries, for
30 ms of processor time; httpx does without it where it cannot be imported."""


@contextmanager
def quick_imports() -> Iterator[None]:
    """Keep the search for garbage off while the block imports: it takes a tenth of the time and finds none.

    Blocks may be nested.
    """
    was_on = gc.isenabled()
    gc.disable()
    for name in _UNUSED_MODULES:
        # As Python documents it: an import of this name raises ModuleNotFoundError.
        sys.modules.setdefault(name, None)  # type: ignore[arg-type]  # typeshed knows modules only
    try:
        yield
    finally:
        if was_on:
            gc.freeze()  # modules stay: the first search after this would look through all that they made
            gc.enable()
