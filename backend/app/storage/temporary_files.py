"""Temporary files in a folder of the service, with removal of those that killed processes left."""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_MAX_AGE_S = 86_400
"""A day: no request or import takes that long. Hosts with a worker also remove them by `retention`."""


@contextmanager
def temporary_file(folder: Path, prefix: str) -> Iterator[Path]:
    """Make an empty file that is removed after the block; first remove stale files of the same prefix."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _remove_stale_files(folder, prefix)
    descriptor, name = tempfile.mkstemp(prefix=prefix, dir=folder)
    os.close(descriptor)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def _remove_stale_files(folder: Path, prefix: str) -> None:
    for path in folder.glob(f"{prefix}*"):
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > _MAX_AGE_S:
                path.unlink()
