"""List, copy out and remove the output folders of cells. No function here follows a link.

A cell may leave anything that its isolation allows: links, unreadable folders, trees deeper than the longest
path. Files are opened, moved and removed only after its last process has ended, so nothing changes meanwhile.
"""

import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MAX_ENTRIES = 2_000
"""Files and folders that a cell may leave: each survey of its folder reads all of them, every 10 ms."""


_COPY_BYTES = 1 << 20
"""Bytes copied at once."""


@dataclass(frozen=True)
class Content:
    """Content of a folder. `files`: relative names (`/`) of regular, visible files. `size_bytes`: of all."""

    files: tuple[str, ...]
    size_bytes: int
    entries: int

    def exceeds(self, size_bytes: int) -> bool:
        return self.size_bytes > size_bytes or self.entries > MAX_ENTRIES


def survey(folder: Path) -> Content:
    """List a folder that its cell may be changing; counting stops a little past MAX_ENTRIES.

    A subfolder that cannot be listed (no permission, or deeper than the longest path) counts as past the limit.
    """
    files: list[Path] = []
    size = entries = 0
    pending = [folder]
    while pending and entries <= MAX_ENTRIES:
        current = pending.pop()
        try:
            for name, status in _scan(current):
                entries += 1
                if stat.S_ISDIR(status.st_mode):
                    pending.append(current / name)
                    continue
                # Blocks count space reserved beyond the end, the size counts the holes of a sparse file.
                size += max(status.st_size, status.st_blocks * 512)
                if stat.S_ISREG(status.st_mode):
                    files.append((current / name).relative_to(folder))
        except FileNotFoundError:
            continue  # removed meanwhile
        except OSError:
            entries += MAX_ENTRIES
    visible = (file.as_posix() for file in files if not any(part.startswith(".") for part in file.parts))
    return Content(tuple(sorted(visible)), size, entries)


def _scan(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            yield entry.name, entry.stat(follow_symlinks=False)


def copy_out(source: Path, target: Path, files: tuple[str, ...]) -> None:
    """Copy regular files by relative name."""
    for name in files:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        # A program may have taken away the right to read its own file.
        (source / name).chmod(0o600)
        reader = os.open(source / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(reader, "rb") as source_file, (target / name).open("wb") as target_file:
            shutil.copyfileobj(source_file, target_file, _COPY_BYTES)


def remove(folder: Path) -> None:
    """Remove a folder of any depth: entries two levels down are moved up before their parent is removed.

    `shutil.rmtree` alone fails where a path is longer than the kernel takes, and where recursion is too deep.
    """
    moved = 0
    while subfolders := [entry for entry in _entries(folder) if entry.is_dir(follow_symlinks=False)]:
        for inner in subfolders:
            for entry in _entries(folder / inner.name):
                if entry.is_dir(follow_symlinks=False):
                    moved += 1
                    (folder / inner.name / entry.name).rename(folder / f"removing-{moved}-{os.getpid()}")
                else:
                    (folder / inner.name / entry.name).unlink()
            (folder / inner.name).rmdir()
    shutil.rmtree(folder, ignore_errors=True)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        return list(os.scandir(folder))
    except PermissionError:
        folder.chmod(0o700)
        return list(os.scandir(folder))
    except FileNotFoundError:
        return []
