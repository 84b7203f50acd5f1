"""Bytes and files of a cache folder as a running count that the processes of a host share.

The count lies in a small file beside the folder and is changed under its lock, so that storing a file costs the
same however many files there are. Reading the folder corrects it: after a crash between count and file, and
where somebody else removed files.
"""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from app.storage.blobs import BlobLimits

MAX_COUNT_AGE_S = 3600.0
"""Seconds after which a count is corrected; that also finds parts of copies that a killed writer left."""
HEADROOM = 1 / 16
"""Share of each bound that an eviction frees beyond the bound itself, so that the next one is that much later.

With 20,000 files one reading of the folder (0.3 s) comes to 1,250 stored files.
"""


@dataclass(frozen=True)
class CacheSize:
    """`counted_at`: Unix time of the last reading. `due_bytes`, `due_files`: beyond these it is read again."""

    size_bytes: int = 0
    files: int = 0
    counted_at: float = 0.0
    due_bytes: int = 0
    due_files: int = 0

    def exceeds(self, max_bytes: float, max_files: float) -> bool:
        return self.size_bytes > max_bytes or self.files > max_files


class RunningSize:
    """The count of `folder`, in the file `<folder>.size`. Blocking."""

    def __init__(self, folder: Path, limits: BlobLimits) -> None:
        self._path = folder.with_name(f"{folder.name}.size")
        self._limits = limits

    def add(self, size_bytes: int) -> bool:
        """Count one more file; True where the folder should be read now, to evict or to correct the count."""
        with self._locked() as descriptor:
            earlier = _read(descriptor)
            size = replace(earlier, size_bytes=earlier.size_bytes + size_bytes, files=earlier.files + 1)
            _write(descriptor, size)
        return self._is_due(size)

    def current(self) -> CacheSize:
        with self._locked() as descriptor:
            return _read(descriptor)

    def correct(self, earlier: CacheSize, content: CacheSize) -> None:
        """Replace the count by `content`, that of the folder; `earlier`: the count when its reading began.

        Copies that other processes added meanwhile are added, though the reading may have counted them: a count
        that is too high is corrected sooner than one that is too low.
        """
        limits = self._limits
        with self._locked() as descriptor:
            now = _read(descriptor)
            size_bytes = content.size_bytes + max(0, now.size_bytes - earlier.size_bytes)
            files = content.files + max(0, now.files - earlier.files)
            # Copies in use are not evicted, so a folder may stay over its bound: it is not read at every store.
            due_bytes = max(limits.cache_bytes, int(size_bytes + HEADROOM * limits.cache_bytes))
            due_files = max(limits.cache_files, int(files + HEADROOM * limits.cache_files))
            _write(descriptor, CacheSize(size_bytes, files, time.time(), due_bytes, due_files))

    def _is_due(self, size: CacheSize) -> bool:
        age_s = time.time() - size.counted_at
        # Below zero: the clock was set back, which would put the correction off.
        if age_s < 0 or age_s > MAX_COUNT_AGE_S or size.exceeds(size.due_bytes, size.due_files):
            return True
        is_over = size.exceeds(self._limits.cache_bytes, self._limits.cache_files)
        # Over its bound because cells read the copies: worth another look once none of them can any more.
        return is_over and age_s > self._limits.cache_grace_s

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """Yield a descriptor of the count, which no other thread or process reads or writes meanwhile."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield descriptor
        finally:
            os.close(descriptor)


@contextmanager
def claim_reading(folder: Path) -> Iterator[bool]:
    """Yield False where another thread or process is reading the folder already: one correction is enough."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(descriptor)


def _read(descriptor: int) -> CacheSize:
    """Read the count. A new or damaged file gives an empty one, which is due for correction."""
    try:
        return CacheSize(**json.loads(os.pread(descriptor, 4096, 0)))
    except (ValueError, TypeError):
        return CacheSize()


def _write(descriptor: int, size: CacheSize) -> None:
    line = json.dumps(asdict(size)).encode()
    # A crash before the cut leaves text behind the number, which reads as damaged and so is corrected.
    os.pwrite(descriptor, line, 0)
    os.ftruncate(descriptor, len(line))
