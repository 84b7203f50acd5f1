"""Start of the process that draws charts: this interpreter by exec, in an environment without secrets."""

import socket
import subprocess
from pathlib import Path
from typing import NoReturn

from app.sandbox.kernel.served_process import ServedProcess

_BACKLOG = 64
"""Connections of workers that may wait while another chart is drawn."""
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "HOME": "/nonexistent",
    # Times without a zone are drawn as they are stored.
    "TZ": "UTC",
}
_DRAWING_PROCESS = ServedProcess("app.charts.drawing_process", (), _ENVIRONMENT, socket.SOCK_STREAM, _BACKLOG)


def start_own() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """Start a drawing process for this process alone; it ends with the connection."""
    return _DRAWING_PROCESS.start()


def become_server(path: Path) -> NoReturn:
    """Turn this process into the host's drawing process, listening at `path` (short, in a private folder).

    It ends with the process that started it.
    """
    _DRAWING_PROCESS.become(path)
