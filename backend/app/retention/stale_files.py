"""What killed processes left in a host's data folder, and copies of blobs that are no longer stored."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

from app.errors import NotFound
from app.storage.blobs import BlobStore, is_digest
from app.storage.folder import folder_time, was_written_before

_AT_HOME = ("uploads/upload-*", "prices/bars-*", "blobs/.part-*", "blobs/.now-*", ".now-*")
_IN_STORE = (".part-*", ".now-*", "??/.gone-*")
_GRACE_S = 900.0
"""A copy that was asked for so lately may still be on its way into a cell."""


async def remove_leftovers(home: Path, store: Path | None, age_s: float) -> int:
    """Remove temporary files that nobody has written to for `age_s` seconds; how many there were.

    `store`: the folder of blobs, where there is one.
    """

    def remove() -> int:
        found = list(_leftovers(home, _AT_HOME, age_s))
        found += _leftovers(store, _IN_STORE, age_s) if store else ()
        for path in found:
            path.unlink(missing_ok=True)
        return len(found)

    return await asyncio.to_thread(remove)


async def drop_stale_copies(home: Path, blobs: BlobStore) -> int:
    """Remove this host's copies of blobs that the store has no more; how many there were."""
    gone = 0
    for path in await asyncio.to_thread(_copies, home / "blobs"):
        if not await _is_stored(blobs, path.name):
            path.unlink(missing_ok=True)
            gone += 1
    return gone


def _copies(folder: Path) -> list[Path]:
    """Those that nobody asked for lately."""
    until = folder_time(folder) - _GRACE_S
    return [
        path for path in folder.glob("[0-9a-f]*") if is_digest(path.name) and was_written_before(path, until)
    ]


def _leftovers(folder: Path, patterns: Sequence[str], age_s: float) -> Iterator[Path]:
    until = folder_time(folder) - age_s
    for pattern in patterns:
        yield from (path for path in folder.glob(pattern) if was_written_before(path, until))


async def _is_stored(blobs: BlobStore, digest: str) -> bool:
    try:
        await blobs.size(digest)
    except NotFound:
        return False
    return True
