"""The running service's addresses, written to its data folder for commands that come later."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from app.private_files import MAX_SECRET_BYTES, open_private, write_draft


@dataclass(frozen=True)
class ServiceAddresses:
    """`api`: base address of the API. The URLs hold passwords: the file is for its owner only."""

    api: str
    database_url: str
    redis_url: str
    pid: int


@contextmanager
def publish_addresses(home: Path, addresses: ServiceAddresses) -> Iterator[None]:
    """Keep the file `service.json` in the data folder `home` for the block, readable by its owner only.

    The file is locked from before others see it until its service ends, however that ends: a file without a
    lock is one that a killed service left, with a port at which nobody listens any more.
    """
    draft = write_draft(_path(home), json.dumps(asdict(addresses)))
    with draft.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        # Locked before it has its name: a reader would take a file without a lock for that of a dead service.
        draft.replace(_path(home))
        try:
            yield
        finally:
            _path(home).unlink(missing_ok=True)


def running_service(home: Path) -> ServiceAddresses | None:
    """Return the addresses of the service that runs on this data folder; None also for one that was killed."""
    try:
        with open_private(_path(home)) as descriptor:
            if not _is_locked(descriptor):
                return None
            return ServiceAddresses(**json.loads(os.read(descriptor, MAX_SECRET_BYTES)))
    except FileNotFoundError:
        return None


def _is_locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _path(home: Path) -> Path:
    return home / "service.json"
