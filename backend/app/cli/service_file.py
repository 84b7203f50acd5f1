"""The running service's addresses, left in its data folder for commands that come later."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from app.private_files import read_private, write_private
from app.servers.embedded import FolderLock


@dataclass(frozen=True)
class ServiceCard:
    """`api` is the API's base address. The URLs hold passwords: the file is for its owner only."""

    api: str
    database_url: str
    redis_url: str
    pid: int


def leave_card(home: Path, card: ServiceCard) -> None:
    write_private(_path(home), json.dumps(asdict(card)))


def take_card_away(home: Path) -> None:
    _path(home).unlink(missing_ok=True)


def running_service(home: Path) -> ServiceCard | None:
    """The service that runs on this data folder now; a card that a killed one left does not count."""
    if not FolderLock(home / "lock").is_taken():
        return None
    try:
        return ServiceCard(**json.loads(read_private(_path(home))))
    except FileNotFoundError:
        return None


def _path(home: Path) -> Path:
    return home / "service.json"
