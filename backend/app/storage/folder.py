"""Blobs in a folder: `ab/abcd...`, read-only files that appear complete or not at all."""

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
"""Passes the chunks of a blob to a function."""


class FolderBlobs:
    """Store in a folder of one host, or in one that every host mounts at the same path."""

    def __init__(self, folder: Path, limits: BlobLimits | None = None) -> None:
        self._folder = folder
        self._limits = limits or BlobLimits()

    async def put_file(self, path: Path) -> Blob:
        return await self._write(lambda on_chunk: digest_file(path, self._limits.max_bytes, on_chunk))

    async def put_bytes(self, data: bytes) -> Blob:
        def write(on_chunk: Callable[[bytes], object]) -> Blob:
            blob = digest_bytes(data, self._limits.max_bytes)
            on_chunk(data)
            return blob

        return await self._write(write)

    async def open(self, digest: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        path = self._existing(digest)
        stop = path.stat().st_size if end is None else end
        with path.open("rb") as source:
            source.seek(start)
            while start < stop and (
                chunk := await asyncio.to_thread(source.read, min(CHUNK_BYTES, stop - start))
            ):
                start += len(chunk)
                BLOB_BYTES.labels("read").inc(len(chunk))
                yield chunk

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
        """Store a blob, with retries on a full disk: the result of a computation is not to be lost by it."""
        full = StoreUnavailable(
            "blob_store_full", "The disk that results are kept on is full: free space on it."
        )
        return await retry_while_disk_full(
            lambda: asyncio.to_thread(self._store, write), full, self._limits.max_wait_s
        )

    def _store(self, write: WriteBlob) -> Blob:
        self._folder.mkdir(mode=0o711, parents=True, exist_ok=True)
        # On the filesystem of the blobs, so that the rename into place is atomic.
        descriptor, name = tempfile.mkstemp(prefix=".part-", dir=self._folder)
        part = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                blob = write(file.write)
                file.flush()
                # A row that names the blob may be committed at once,
                # and must not outlive its bytes in a loss of power.
                os.fsync(file.fileno())
            self._publish(part, self._path(blob.digest))
            BLOB_BYTES.labels("stored").inc(blob.size_bytes)
            return blob
        finally:
            part.unlink(missing_ok=True)

    def _publish(self, part: Path, path: Path) -> None:
        path.parent.mkdir(mode=0o711, exist_ok=True)
        part.chmod(0o444)
        # Also when the blob exists: the time of the new file keeps the sweep away from it.
        part.replace(path)
        # The name needs a sync of its own: that of the file holds for its bytes.
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _delete_if_old(path: Path, until: float) -> bool:
    """Delete the file unless it was written after `until`. Returns True if it was deleted.

    It is moved away first and looked at again: a file that was written since the first look is put back.
    """
    trash = path.with_name(f".gone-{uuid4().hex}")
    try:
        path.rename(trash)
    except FileNotFoundError:
        return False
    if was_written_before(trash, until):
        trash.unlink()
        return True
    trash.replace(path)
    return False


def folder_time(folder: Path) -> float:
    """Return the time by the clock of the folder's filesystem, with which times of its files are compared.

    A folder of another host has another clock than this process.
    """
    if not folder.is_dir():
        return 0.0
    with tempfile.NamedTemporaryFile(prefix=".now-", dir=folder) as file:
        return Path(file.name).stat().st_mtime


def was_written_before(path: Path, moment: float) -> bool:
    """Return False where the file is missing, too: another process may sweep it meanwhile."""
    try:
        return path.stat().st_mtime < moment
    except FileNotFoundError:
        return False
