"""Folders that live as long as their process, and are removed by the next one if it was killed."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.sandbox.outputs.folders import remove

LOCK_NAME = ".alive"


class Scratch:
    """A private folder under `root`. The kernel releases its lock with the process, whatever ends it."""

    def __init__(self, root: Path) -> None:
        root.mkdir(mode=0o711, parents=True, exist_ok=True)
        with _locked(root):
            self.path = Path(tempfile.mkdtemp(prefix="run-", dir=root))
            self._lock = os.open(self.path / LOCK_NAME, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)

    def close(self) -> None:
        # Still under the lock: another process could sweep the folder at the same time.
        remove(self.path)
        os.close(self._lock)


def sweep(root: Path) -> int:
    """Remove the folders of processes that ended without doing so. Returns their number."""
    with _locked(root):
        dead = [folder for folder in root.glob("run-*") if not _is_alive(folder)]
        for folder in dead:
            remove(folder)
    return len(dead)


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    """Let one process at a time make or sweep folders, so that a folder without a lock is never a new one."""
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _is_alive(folder: Path) -> bool:
    try:
        lock = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False
