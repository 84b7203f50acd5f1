"""Output folders of cells: what is in them, out of them, and away with them. Nothing here follows a link.

A cell may leave anything that its walls allow: links, unreadable folders, nests deeper than a path is long.
Files are only opened, moved and removed after its last process has ended, so nothing changes underneath.
"""

import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MAX_ENTRIES = 2_000
"""Files and folders that a cell may leave."""


@dataclass(frozen=True)
class Content:
    """`files`: regular files by relative name (`/`), hidden ones left out. `size_bytes` counts everything."""

    files: tuple[str, ...]
    size_bytes: int
    entries: int

    def exceeds(self, size_bytes: int) -> bool:
        return self.size_bytes > size_bytes or self.entries > MAX_ENTRIES


def survey(folder: Path) -> Content:
    """What is in a folder, which its cell may be changing; stops counting a little past ENTRIES_LIMIT.

    What cannot be looked into (shut, or nested deeper than a path is long) counts as past the limit.
    """
    files: list[Path] = []
    size = entries = 0
    pending = [folder]
    while pending and entries <= MAX_ENTRIES:
        place = pending.pop()
        try:
            for name, facts in _scan(place):
                entries += 1
                if stat.S_ISDIR(facts.st_mode):
                    pending.append(place / name)
                    continue
                size += max(facts.st_size, facts.st_blocks * 512)
                if stat.S_ISREG(facts.st_mode):
                    files.append((place / name).relative_to(folder))
        except FileNotFoundError:
            continue  # it went while we looked
        except OSError:
            entries += MAX_ENTRIES
    shown = (file.as_posix() for file in files if not any(part.startswith(".") for part in file.parts))
    return Content(tuple(sorted(shown)), size, entries)


def _scan(place: Path) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(place) as entries:
        for entry in entries:
            yield entry.name, entry.stat(follow_symlinks=False)


def copy_out(source: Path, target: Path, files: tuple[str, ...]) -> None:
    """Copy regular files by relative name."""
    for name in files:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).chmod(0o600)
        reader = os.open(source / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(reader, "rb") as read, (target / name).open("wb") as write:
            shutil.copyfileobj(read, write, 1 << 20)


def remove(folder: Path) -> None:
    """Remove a folder, however deep: what lies two levels down is moved up before its parent goes."""
    moved = 0
    while below := [entry for entry in _entries(folder) if entry.is_dir(follow_symlinks=False)]:
        for inner in below:
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
