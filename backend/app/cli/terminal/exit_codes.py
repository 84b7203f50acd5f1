"""Exit codes for scripts that call `labcrew`."""

import sys
from collections.abc import Callable
from enum import IntEnum

from app.cli.terminal.sanitize import harmless
from app.errors import LabError


class Exit(IntEnum):
    DONE = 0
    FAILED = 1  # the session failed, or its report could not be checked
    USAGE = 2
    REFUSED = 3  # something given is wrong: a setting, a file, an id
    UNAVAILABLE = 4  # a server or a kernel feature is missing
    WAITING = 5  # the crew asked, and nobody is there to answer
    CANCELLED = 6
    UNREADABLE_GOAL = 7  # the goal was not understood, and nothing was done
    INTERRUPTED = 130


def exit_for(error: LabError) -> Exit:
    return Exit.UNAVAILABLE if error.kind == "unavailable" else Exit.REFUSED


def exit_code_of(command: Callable[[], object]) -> int:
    """Carry out a command; report its failure in one line, and return its exit code."""
    try:
        command()
    except LabError as error:
        print(f"labcrew: {harmless(error.detail)}", file=sys.stderr)  # noqa: T201 - the terminal is the edge here
        return exit_for(error)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    return Exit.DONE
