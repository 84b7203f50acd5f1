"""Embedded Postgres and Valkey under one data folder, which one process owns at a time."""

import fcntl
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from app.errors import Conflict
from app.servers.folders import OTHER_USER_ROOT, ServerFolders, choose_folders, private_folder, remove_sockets
from app.servers.os_user import Account, choose_account
from app.servers.postgres import Postgres
from app.servers.valkey import Valkey

_LOCK_PAUSE_S = 0.1
"""Seconds between attempts: flock itself could not be ended by a signal that the service handles."""


@dataclass
class FolderLock:
    """Lock of a data folder while a service runs on it; the kernel releases it with the process."""

    path: Path
    _file: IO[str] | None = field(default=None, init=False)

    def take(
        self, should_wait: Callable[[], bool] = lambda: False, on_wait: Callable[[], object] = lambda: None
    ) -> None:
        """Take the lock. While another process has it, wait as long as `should_wait` says so.

        `on_wait` is called once, before a wait. Raises Conflict with the owner's pid.
        """
        # Not `w`, which would cut off the owner's pid before the lock is tried.
        file = self.path.open("a+")
        is_waiting = False
        while not _lock(file):
            if not should_wait():
                raise self._refuse(file)
            if not is_waiting:
                on_wait()
            is_waiting = True
            time.sleep(_LOCK_PAUSE_S)
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        self._file = file

    def _refuse(self, file: IO[str]) -> Conflict:
        with file:
            file.seek(0)
            owner = file.read().strip() or "unknown"
        return Conflict(
            "folder_in_use",
            f"A service already runs on {self.path.parent} (process {owner}). "
            "Stop it first, or set LABCREW_HOME to another folder.",
        )

    def release(self) -> None:
        if self._file:
            self._file.truncate(0)
            self._file.close()
            self._file = None


def _lock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


class EmbeddedServers:
    """Both servers of a data folder. Start them from the thread that lives longest: they end with it.

    `home`: the data folder. `account`: user that they run as; None: chosen by the host's accounts.
    `other_user_root`: folder for the data of another user.
    """

    def __init__(
        self,
        home: Path,
        runtime: Path | None = None,
        account: Account | None = None,
        other_user_root: Path = OTHER_USER_ROOT,
    ) -> None:
        self.home = home.absolute()
        self._runtime = runtime
        self._account = account
        self._other_user_root = other_user_root
        self._folders: ServerFolders | None = None
        self.postgres: Postgres | None = None
        self.valkey: Valkey | None = None

    def prepare_folders(self) -> ServerFolders:
        """Find or make the folders of the servers, without starting them."""
        if self._folders is None:
            private_folder(self.home)
            account = self._account or choose_account()
            self._folders = choose_folders(self.home, account, self._runtime, self._other_user_root)
        return self._folders

    def prepare_postgres(self) -> Postgres:
        self.postgres = self.postgres or Postgres(self.prepare_folders())
        return self.postgres

    def prepare_valkey(self) -> Valkey:
        self.valkey = self.valkey or Valkey(self.prepare_folders())
        return self.valkey

    def start_postgres(self) -> str:
        """Start Postgres. Returns the URL of its database."""
        self.prepare_postgres().start()
        return self.prepare_postgres().url()

    def start_valkey(self) -> str:
        """Start Valkey. Returns its URL."""
        self.prepare_valkey().start()
        return self.prepare_valkey().url()

    def stop(self) -> None:
        """Stop both servers and remove their sockets; the data stays."""
        for server in (self.valkey, self.postgres):
            if server:
                server.stop()
        if self._folders:
            remove_sockets(self._folders)
            self._folders = self.postgres = self.valkey = None
