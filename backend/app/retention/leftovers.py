"""What killed processes left in a host's data folder, and copies of blobs that are no longer stored."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from app.errors import NotFound
from app.storage.blobs import BlobStore, is_digest

_PATTERNS = ("uploads/upload-*", "prices/bars-*", "blobs/.part-*")
_GRACE_S = 900.0
"""A copy that was asked for so lately may still be on its way into a cell."""


def leftovers(home: Path, age_s: float) -> Iterator[Path]:
    """Temporary files that nobody has written to for `age_s` seconds."""
    for pattern in _PATTERNS:
        for path in home.glob(pattern):
            if _age_s(path) > age_s:
                yield path


async def remove_leftovers(home: Path, age_s: float) -> int:
    """How many there were."""

    def remove() -> int:
        found = list(leftovers(home, age_s))
        for path in found:
            path.unlink(missing_ok=True)
        return len(found)

    return await asyncio.to_thread(remove)


async def drop_stale_copies(home: Path, blobs: BlobStore) -> int:
    """Remove this host's copies of blobs that the store has no more; how many there were."""
    gone = 0
    for path in await asyncio.to_thread(lambda: sorted((home / "blobs").glob("[0-9a-f]*"))):
        if is_digest(path.name) and _age_s(path) > _GRACE_S and not await _is_stored(blobs, path.name):
            path.unlink(missing_ok=True)
            gone += 1
    return gone


async def _is_stored(blobs: BlobStore, digest: str) -> bool:
    try:
        await blobs.size(digest)
    except NotFound:
        return False
    return True


def _age_s(path: Path) -> float:
    """Since it was last written or asked for; 0 when it is gone."""
    with suppress(FileNotFoundError):
        return time.time() - path.stat().st_mtime
    return 0.0
