"""Blobs in a folder: `ab/abcd...`, read-only files that appear whole or not at all."""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from uuid import uuid4

from app.observability.metrics.stores import BLOB_BYTES
from app.storage.blobs import (
    CHUNK_BYTES,
    Blob,
    BlobLimits,
    StoreUnavailable,
    check_digest,
    digest_bytes,
    digest_file,
    is_digest,
    not_stored,
)
from app.storage.disk_space import retry_while_disk_full

WriteBlob = Callable[[Callable[[bytes], object]], Blob]
"""Hands a blob's pieces to what it is given."""


class FolderBlobs:
    """Made for one host, or a folder that every host mounts at the same place."""

    def __init__(self, folder: Path, limits: BlobLimits | None = None) -> None:
        self._folder = folder
        self._limits = limits or BlobLimits()

    async def put_file(self, path: Path) -> Blob:
        return await self._write(lambda each: digest_file(path, self._limits.max_bytes, each))

    async def put_bytes(self, data: bytes) -> Blob:
        def write(each: Callable[[bytes], object]) -> Blob:
            blob = digest_bytes(data, self._limits.max_bytes)
            each(data)
            return blob

        return await self._write(write)

    async def open(self, digest: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        path = self._existing(digest)
        stop = path.stat().st_size if end is None else end
        with path.open("rb") as source:
            source.seek(start)
            while start < stop and (
                piece := await asyncio.to_thread(source.read, min(CHUNK_BYTES, stop - start))
            ):
                start += len(piece)
                BLOB_BYTES.labels("read").inc(len(piece))
                yield piece

    async def size(self, digest: str) -> int:
        return self._existing(digest).stat().st_size

    async def local_path(self, digest: str) -> Path:
        return self._existing(digest)

    async def stored_before(self, age_s: float) -> AsyncIterator[str]:
        until = await asyncio.to_thread(folder_time, self._folder) - age_s
        for path in await asyncio.to_thread(lambda: sorted(self._folder.glob("??/*"))):
            if is_digest(path.name) and was_written_before(path, until):
                yield path.name

    async def forget(self, digest: str, age_s: float) -> bool:
        path = self._path(digest)
        until = await asyncio.to_thread(folder_time, self._folder) - age_s
        return was_written_before(path, until) and await asyncio.to_thread(_delete_if_old, path, until)

    def _path(self, digest: str) -> Path:
        return self._folder / check_digest(digest)[:2] / digest

    def _existing(self, digest: str) -> Path:
        path = self._path(digest)
        if not path.is_file():
            raise not_stored(digest)
        return path

    async def _write(self, write: WriteBlob) -> Blob:
        """What was computed need not be computed again, if room is made meanwhile."""
        full = StoreUnavailable(
            "blob_store_full", "The disk that results are kept on is full: make room there."
        )
        return await retry_while_disk_full(
            lambda: asyncio.to_thread(self._store, write), full, self._limits.max_wait_s
        )

    def _store(self, write: WriteBlob) -> Blob:
        self._folder.mkdir(mode=0o711, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=".part-", dir=self._folder)
        part = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                blob = write(file.write)
                file.flush()
                os.fsync(file.fileno())
            self._publish(part, self._path(blob.digest))
            BLOB_BYTES.labels("stored").inc(blob.size_bytes)
            return blob
        finally:
            part.unlink(missing_ok=True)

    def _publish(self, part: Path, path: Path) -> None:
        path.parent.mkdir(mode=0o711, exist_ok=True)
        part.chmod(0o444)
        # Also when the blob is there: the fresh file's time keeps the sweep away from it.
        part.replace(path)
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _delete_if_old(path: Path, until: float) -> bool:
    """Move first and look again: what was written since the first look is put back."""
    grave = path.with_name(f".gone-{uuid4().hex}")
    try:
        path.rename(grave)
    except FileNotFoundError:
        return False
    if was_written_before(grave, until):
        grave.unlink()
        return True
    grave.replace(path)
    return False


def folder_time(folder: Path) -> float:
    """The time by the folder's own clock, which times of its files are to be compared with."""
    if not folder.is_dir():
        return 0.0
    with tempfile.NamedTemporaryFile(prefix=".now-", dir=folder) as file:
        return Path(file.name).stat().st_mtime


def was_written_before(path: Path, moment: float) -> bool:
    """False when it is gone: another process may sweep it away meanwhile."""
    try:
        return path.stat().st_mtime < moment
    except FileNotFoundError:
        return False
