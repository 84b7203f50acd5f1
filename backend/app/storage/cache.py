"""Local read-only copies of remote blobs, bounded in bytes and files, shared by the processes of a host."""

import asyncio
import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

from app.storage.blobs import BlobLimits, check_digest, digest_file, not_stored
from app.storage.cache_size import HEADROOM, CacheSize, RunningSize, claim_reading

_PART = ".part-"
_MAX_PART_AGE_S = 3600.0
"""Seconds without a write after which an unfinished copy is taken to have lost its writer."""


class LocalCache:
    """Cache folder of one host. A file appears under its digest complete and verified, or not at all.

    Bytes and files are bounded. The bounds are soft: a copy that was used in the last `cache_grace_s` seconds
    may still be read by a cell, so it is never evicted.
    """

    def __init__(self, folder: Path, limits: BlobLimits) -> None:
        self._folder = folder
        self._limits = limits
        self._size = RunningSize(folder, limits)
        self._filling: dict[str, asyncio.Lock] = {}

    def find(self, digest: str) -> Path | None:
        """Return the copy of a blob, marked as used now, or None."""
        path = self._folder / check_digest(digest)
        try:
            # By hand: most mounts update the time of an access rarely or never.
            os.utime(path)
        except FileNotFoundError:
            return None
        return path

    async def fill(self, digest: str, source: AsyncIterator[bytes]) -> Path:
        """Return the copy, made from `source` if there is none. Raises NotFound for bytes of another digest."""
        lock = self._filling.setdefault(digest, asyncio.Lock())
        try:
            async with lock:
                # Whoever has waited for the lock finds the copy that its holder made.
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
                async for chunk in source:
                    await asyncio.to_thread(file.write, chunk)
            return await asyncio.to_thread(self._publish, part, digest)
        finally:
            part.unlink(missing_ok=True)

    def _part(self) -> Path:
        # 0711: a cell of another user opens a file that it knows by name, and cannot list the others.
        self._folder.mkdir(mode=0o711, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=_PART, dir=self._folder)
        os.close(descriptor)
        return Path(name)

    def _publish(self, part: Path, digest: str) -> Path:
        # Bytes that a store or a network has changed are found here, before anything reads them.
        blob = digest_file(part, self._limits.max_bytes)
        if blob.digest != digest:
            raise not_stored(digest)
        path = self._folder / digest
        # Another process was faster, and has counted it.
        if path.exists():
            return path
        part.chmod(0o444)
        # Counted first: a crash between the two leaves a count that is too high, which is corrected soon.
        is_due = self._size.add(blob.size_bytes)
        part.replace(path)
        if is_due:
            self._evict()
        return path

    def _evict(self) -> None:
        """Read the folder, evict the least recently used copies beyond the bounds, and correct the count."""
        with claim_reading(self._folder) as is_alone:
            if not is_alone:
                return
            earlier = self._size.current()
            copies = sorted(self._copies())
            size = CacheSize(sum(size_bytes for _, size_bytes, _ in copies), len(copies))
            if size.exceeds(self._limits.cache_bytes, self._limits.cache_files):
                size = self._evict_oldest(copies, size)
            self._size.correct(earlier, size)

    def _evict_oldest(self, copies: Sequence[tuple[float, int, Path]], size: CacheSize) -> CacheSize:
        max_bytes = (1 - HEADROOM) * self._limits.cache_bytes
        max_files = (1 - HEADROOM) * self._limits.cache_files
        max_used_at = time.time() - self._limits.cache_grace_s
        for used_at, size_bytes, path in copies:
            # The least recently used come first: whatever follows was used even later.
            if not size.exceeds(max_bytes, max_files) or used_at > max_used_at:
                break
            path.unlink(missing_ok=True)
            size = CacheSize(size.size_bytes - size_bytes, size.files - 1)
        return size

    def _copies(self) -> Iterator[tuple[float, int, Path]]:
        """Yield (time of last use, bytes, path) of each copy; other processes write and evict meanwhile.

        Parts whose writer is gone are removed.
        """
        min_part_time = time.time() - _MAX_PART_AGE_S
        with os.scandir(self._folder) as entries:
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):
                    stat = entry.stat()
                    if not entry.name.startswith(_PART):
                        yield stat.st_mtime, stat.st_size, Path(entry.path)
                    elif stat.st_mtime < min_part_time:
                        Path(entry.path).unlink()
