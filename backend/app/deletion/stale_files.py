"""Removal of temporary files of killed processes and of local copies of deleted blobs."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

from app.errors import NotFound
from app.storage.blobs import BlobStore, is_digest
from app.storage.folder import folder_time, was_written_before

_HOME_PATTERNS = ("uploads/upload-*", "prices/bars-*", "blobs/.part-*", "blobs/.now-*", ".now-*")
_STORE_PATTERNS = (".part-*", ".now-*", "??/.gone-*")
_MIN_IDLE_S = 900.0
"""A copy that was used within this time may still be on its way into a cell."""


async def remove_stale_files(home: Path, store: Path | None, age_s: float) -> int:
    """Remove temporary files last written `age_s` seconds ago or earlier; return their number.

    `store`: the folder of blobs, if there is one.
    """

    def remove() -> int:
        paths = list(_stale_files(home, _HOME_PATTERNS, age_s))
        paths += _stale_files(store, _STORE_PATTERNS, age_s) if store else ()
        for path in paths:
            path.unlink(missing_ok=True)
        return len(paths)

    return await asyncio.to_thread(remove)


async def remove_stale_copies(home: Path, blobs: BlobStore) -> int:
    """Remove this host's copies of blobs that are no longer stored; return their number."""
    removed = 0
    for path in await asyncio.to_thread(_idle_copies, home / "blobs"):
        if not await _is_stored(blobs, path.name):
            path.unlink(missing_ok=True)
            removed += 1
    return removed


def _idle_copies(folder: Path) -> list[Path]:
    """List copies that were not used in the last _MIN_IDLE_S."""
    until = folder_time(folder) - _MIN_IDLE_S
    return [
        path for path in folder.glob("[0-9a-f]*") if is_digest(path.name) and was_written_before(path, until)
    ]


def _stale_files(folder: Path, patterns: Sequence[str], age_s: float) -> Iterator[Path]:
    until = folder_time(folder) - age_s
    for pattern in patterns:
        yield from (path for path in folder.glob(pattern) if was_written_before(path, until))


async def _is_stored(blobs: BlobStore, digest: str) -> bool:
    try:
        await blobs.size(digest)
    except NotFound:
        return False
    return True
