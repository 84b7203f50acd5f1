"""`labcrew`: its entry, and what happens when a command fails."""

import gc
import sys
from collections.abc import Sequence
from typing import NoReturn

from app.cli.quick_imports import quick_imports
from app.cli.terminal.exit_codes import exit_code_of
from app.cli.terminal.interrupts import interrupt_between_imports


def run_command(arguments: Sequence[str]) -> int:
    """Run `labcrew ARGUMENTS` in this process; the exit code."""
    from app.cli.commands import app  # noqa: PLC0415 - Ctrl-C is caught before the half second of this import

    return exit_code_of(lambda: app([*arguments], standalone_mode=False))


def _run_command_line() -> None:
    with quick_imports():
        from app.cli.commands import app  # noqa: PLC0415 - see above
    app()


def main() -> NoReturn:
    interrupt_between_imports()
    code = exit_code_of(_run_command_line)
    gc.freeze()  # the interpreter's last search for garbage would take a tenth of a second
    sys.exit(code)


if __name__ == "__main__":
    main()
