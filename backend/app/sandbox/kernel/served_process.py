"""Processes of the service that serve over a socket, started by exec with an environment of their own."""

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from app.sandbox.kernel.calls import die_with_parent


@dataclass(frozen=True)
class ServedProcess:
    """A module that serves over the socket whose descriptor is its first argument.

    `environment`: all of it, so that no secret of the service is in it. `backlog`: connections that may wait
    while the process starts or works.
    """

    module: str
    arguments: Sequence[str]
    environment: Mapping[str, str]
    kind: socket.SocketKind
    backlog: int

    def start(self) -> tuple[socket.socket, subprocess.Popen[bytes]]:
        """Start it for this process alone, and return the other end of its socket. It ends with that end."""
        client_end, server_end = socket.socketpair(socket.AF_UNIX, self.kind)
        client_end.setblocking(False)
        with server_end:
            process = subprocess.Popen(  # noqa: S603 (fixed arguments)
                self._command(server_end.fileno()),
                pass_fds=[server_end.fileno()],
                stdin=subprocess.DEVNULL,
                env=dict(self.environment),
                cwd="/",
                # Ctrl-C reaches all processes of a terminal's session: this one ends when its client does.
                start_new_session=True,
            )
        return client_end, process

    def become(self, path: Path) -> NoReturn:
        """Turn this process into it, listening at `path` (short, in a private folder).

        It ends with the process that started it.
        """
        # The kernel keeps this request across the exec below.
        die_with_parent(os.getppid())
        # The socket of a process that died keeps the address, and binding to it would fail.
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
        listener = socket.socket(socket.AF_UNIX, self.kind)
        listener.bind(str(path))
        listener.listen(self.backlog)
        listener.set_inheritable(True)
        command = self._command(listener.fileno())
        os.chdir("/")
        os.execve(command[0], command, dict(self.environment))  # noqa: S606 (fixed arguments)

    def _command(self, descriptor: int) -> list[str]:
        # `-P`: modules come from the installation, never from the folder in which the process starts.
        return [sys.executable, "-P", "-m", self.module, str(descriptor), *self.arguments]
