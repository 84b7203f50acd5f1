"""The running service's addresses, left in its data folder for commands that come later."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from app.servers.embedded import FolderLock


@dataclass(frozen=True)
class ServiceCard:
    """`api` is the API's base address. The URLs hold passwords: the file is for its owner only."""

    api: str
    database_url: str
    redis_url: str
    pid: int


def leave_card(home: Path, card: ServiceCard) -> None:
    path = _path(home)
    draft = path.with_suffix(".draft")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(asdict(card), file)
    draft.replace(path)


def take_card_away(home: Path) -> None:
    _path(home).unlink(missing_ok=True)


def running_service(home: Path) -> ServiceCard | None:
    """The service that runs on this data folder now; a card that a killed one left does not count."""
    if not FolderLock(home / "lock").is_taken():
        return None
    try:
        return ServiceCard(**json.loads(_path(home).read_text()))
    except FileNotFoundError:
        return None


def _path(home: Path) -> Path:
    return home / "service.json"
