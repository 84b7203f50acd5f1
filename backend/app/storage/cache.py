"""Local read-only copies of remote blobs, bounded in bytes, shared by the processes of a host."""

import asyncio
import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from app.storage.blobs import BlobLimits, checked, digest_file, not_stored

_PART = ".part-"
_ABANDONED_S = 3600.0
"""A copy that nobody has added to for so long has lost its writer."""


class LocalCache:
    """A file appears under its digest whole and verified, or not at all.

    The bound is soft: a copy that was asked for in the last `cache_grace_s` seconds may still be read by a
    cell, so it is never evicted.
    """

    def __init__(self, folder: Path, limits: BlobLimits) -> None:
        self._folder = folder
        self._limits = limits
        self._filling: dict[str, asyncio.Lock] = {}

    def find(self, digest: str) -> Path | None:
        """The copy, marked as used now."""
        path = self._folder / checked(digest)
        try:
            os.utime(path)
        except FileNotFoundError:
            return None
        return path

    async def fill(self, digest: str, source: AsyncIterator[bytes]) -> Path:
        """The copy, made from `source` if it is not there; raises NotFound if the bytes are not the blob's."""
        lock = self._filling.setdefault(digest, asyncio.Lock())
        try:
            async with lock:
                return self.find(digest) or await self._fetch(digest, source)
        finally:
            self._filling.pop(digest, None)

    def adopt(self, path: Path, digest: str) -> None:
        """Copy a file that was just stored, so that its next reader need not fetch it. Blocking."""
        if self.find(digest):
            return
        part = self._part()
        try:
            shutil.copyfile(path, part)
            self._publish(part, digest)
        finally:
            part.unlink(missing_ok=True)

    async def _fetch(self, digest: str, source: AsyncIterator[bytes]) -> Path:
        part = self._part()
        try:
            with part.open("wb") as file:
                async for piece in source:
                    await asyncio.to_thread(file.write, piece)
            return await asyncio.to_thread(self._publish, part, digest)
        finally:
            part.unlink(missing_ok=True)

    def _part(self) -> Path:
        self._folder.mkdir(mode=0o711, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=_PART, dir=self._folder)
        os.close(descriptor)
        return Path(name)

    def _publish(self, part: Path, digest: str) -> Path:
        if digest_file(part, self._limits.max_bytes).digest != digest:
            raise not_stored(digest)
        path = self._folder / digest
        part.chmod(0o444)
        part.replace(path)
        self._evict()
        return path

    def _evict(self) -> None:
        copies = sorted(self._copies())
        size = sum(size_bytes for _, size_bytes, _ in copies)
        newest_to_go = time.time() - self._limits.cache_grace_s
        for used_at, size_bytes, entry in copies:
            if size <= self._limits.cache_bytes or used_at > newest_to_go:
                return
            size -= size_bytes
            entry.unlink(missing_ok=True)

    def _copies(self) -> Iterator[tuple[float, int, Path]]:
        """When each copy was last asked for, its size and its path; others write and evict meanwhile."""
        abandoned = time.time() - _ABANDONED_S
        for entry in self._folder.iterdir():
            with contextlib.suppress(FileNotFoundError):
                found = entry.stat()
                if not entry.name.startswith(_PART) or found.st_mtime < abandoned:
                    yield found.st_mtime, found.st_size, entry
