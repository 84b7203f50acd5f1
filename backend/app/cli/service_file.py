"""The running service's addresses, written to its data folder for commands that come later."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from app.private_files import read_private, write_private
from app.servers.embedded import FolderLock


@dataclass(frozen=True)
class ServiceAddresses:
    """`api`: base address of the API. The URLs hold passwords: the file is for its owner only."""

    api: str
    database_url: str
    redis_url: str
    pid: int


def write_addresses(home: Path, addresses: ServiceAddresses) -> None:
    """Write the file `service.json` of the data folder `home`, readable by its owner only."""
    write_private(_path(home), json.dumps(asdict(addresses)))


def remove_addresses(home: Path) -> None:
    """Remove the file; nothing if there is none."""
    _path(home).unlink(missing_ok=True)


def running_service(home: Path) -> ServiceAddresses | None:
    """Return the addresses of the service that runs on this data folder; None also for one that was killed."""
    if not FolderLock(home / "lock").is_taken():
        return None
    try:
        return ServiceAddresses(**json.loads(read_private(_path(home))))
    except FileNotFoundError:
        return None


def _path(home: Path) -> Path:
    return home / "service.json"
