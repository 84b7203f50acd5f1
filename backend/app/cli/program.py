"""`labcrew`: its entry, and what happens when a command fails."""

import gc
import sys
from typing import NoReturn

from app.cli.quick_imports import quick_imports
from app.cli.terminal.exit_codes import exit_code_of
from app.cli.terminal.interrupts import interrupt_between_imports


def _run_command_line() -> None:
    with quick_imports():
        from app.cli.commands import make_app  # noqa: PLC0415 - Ctrl-C is caught before the imports

        app = make_app(sys.argv[1:])
    app()


def main() -> NoReturn:
    interrupt_between_imports()
    code = exit_code_of(_run_command_line)
    gc.freeze()  # the interpreter's last search for garbage would take a tenth of a second
    sys.exit(code)


if __name__ == "__main__":
    main()
