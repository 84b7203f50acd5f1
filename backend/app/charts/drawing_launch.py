"""Start of the process that draws charts: this interpreter by exec, in an environment without secrets."""

import contextlib
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

from app.sandbox.kernel.calls import die_with_parent

_BACKLOG = 64
"""Connections of workers that may wait while another chart is drawn."""
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "HOME": "/nonexistent",
    # Times without a zone are drawn as they are stored.
    "TZ": "UTC",
}


def start_own() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """Start a drawing process for this process alone; it ends with the connection."""
    client_end, server_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    client_end.setblocking(False)
    with server_end:
        process = subprocess.Popen(  # noqa: S603 - fixed arguments
            _command(server_end.fileno()),
            pass_fds=[server_end.fileno()],
            stdin=subprocess.DEVNULL,
            env=_ENVIRONMENT,
            cwd="/",
            start_new_session=True,
        )
    return client_end, process


def become_server(path: Path) -> NoReturn:
    """Turn this process into the host's drawing process, listening at `path` (short, in a private folder).

    It ends with the process that started it.
    """
    die_with_parent(os.getppid())
    # The socket of a process that died keeps the address, and binding to it would fail.
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    listener.listen(_BACKLOG)
    listener.set_inheritable(True)
    command = _command(listener.fileno())
    os.chdir("/")
    os.execve(command[0], command, _ENVIRONMENT)  # noqa: S606 - fixed arguments


def _command(descriptor: int) -> list[str]:
    # -P: modules come from the installation, never from the folder in which the process starts.
    return [sys.executable, "-P", "-m", "app.charts.drawing_process", str(descriptor)]
