"""Canary of a zygote: tries in a cell what its isolation must refuse, before untrusted work runs there."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

from app.computations.cell_files.workspace import CellWorkspace
from app.json_types import JsonValue


def escape(workspace: CellWorkspace, path: str) -> list[JsonValue]:
    """Try what untrusted work must not do; return the names of attempts that succeeded."""
    attempts = {
        "read a file outside": lambda: Path(path).read_bytes(),
        "write a file outside": lambda: Path(path).open("ab").close(),
        "open a network socket": lambda: socket.socket(socket.AF_INET).close(),
        "open a local socket": lambda: socket.socket(socket.AF_UNIX).close(),
        "start a process": _start_a_process,
        "signal another process": lambda: os.kill(-1, 0),
    }
    return [name for name, attempt in attempts.items() if _succeeds(attempt)]


def _succeeds(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError:
        return False
    return True


def _start_a_process() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
