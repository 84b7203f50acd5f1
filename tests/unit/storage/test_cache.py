"""The cache of remote blobs: bounded in bytes and files, at a cost that does not grow with the folder."""

import hashlib
import itertools
import multiprocessing
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.patience import HANG_GUARD_S

from app.storage.blobs import BlobLimits
from app.storage.cache import LocalCache
from app.storage.cache_size import CacheSize, RunningSize

LIMITS = BlobLimits(cache_bytes=1 << 20, cache_files=64, cache_grace_s=0.0)

_numbers = itertools.count()
_scanned: list[str] | None = None


def _note_scans(event: str, arguments: tuple[object, ...]) -> None:
    if _scanned is not None and event in ("os.scandir", "os.listdir"):
        _scanned.append(str(arguments[0]))


sys.addaudithook(_note_scans)


@pytest.fixture
def scanned() -> Iterator[list[str]]:
    """Folders that were read, in order."""
    global _scanned
    _scanned = []
    yield _scanned
    _scanned = None


def store(cache: LocalCache, folder: Path, size_bytes: int = 40) -> str:
    data = f"{os.getpid()}-{next(_numbers)}".encode().ljust(size_bytes, b".")
    source = folder / f"source-{os.getpid()}"
    source.write_bytes(data)
    digest = hashlib.sha256(data).hexdigest()
    cache.adopt(source, digest)
    return digest


def copies(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if not path.name.startswith(".")]


def test_storing_does_not_read_the_folder_each_time(tmp_path: Path, scanned: list[str]) -> None:
    cache = LocalCache(tmp_path / "cache", BlobLimits())
    for _ in range(300):
        store(cache, tmp_path)
    assert len(scanned) == 1


@pytest.mark.parametrize("grace_s", [0.0, 3600.0])
def test_a_full_cache_is_not_read_at_each_store(tmp_path: Path, scanned: list[str], grace_s: float) -> None:
    limits = BlobLimits(cache_files=160, cache_grace_s=grace_s)
    cache = LocalCache(tmp_path / "cache", limits)
    for _ in range(640):
        store(cache, tmp_path)
    # A sixteenth of the bound is freed, or, where all copies are in use, may come before the next reading.
    assert len(scanned) <= 1 + 480 / 10 + 1
    assert len(copies(tmp_path / "cache")) == 640 if grace_s else len(copies(tmp_path / "cache")) <= 160


def test_files_are_bounded_and_the_last_used_stay(tmp_path: Path) -> None:
    cache = LocalCache(tmp_path / "cache", LIMITS)
    digests = [store(cache, tmp_path) for _ in range(60)]
    for age, digest in enumerate(reversed(digests)):
        os.utime(tmp_path / "cache" / digest, (1_000_000 - age,) * 2)
    assert cache.find(digests[0])
    newest = [store(cache, tmp_path) for _ in range(5)]
    names = {path.name for path in copies(tmp_path / "cache")}
    assert len(names) <= 64
    assert {digests[0], *newest} <= names
    assert digests[1] not in names


def test_bytes_are_bounded(tmp_path: Path) -> None:
    cache = LocalCache(tmp_path / "cache", LIMITS)
    for _ in range(40):
        store(cache, tmp_path, size_bytes=100_000)
        assert sum(path.stat().st_size for path in copies(tmp_path / "cache")) <= LIMITS.cache_bytes


def _store_many(folder: Path, count: int) -> None:
    cache = LocalCache(folder / "cache", LIMITS)
    for _ in range(count):
        store(cache, folder)


def test_processes_that_share_a_folder_keep_its_bound_together(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=_store_many, args=(tmp_path, 100)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(HANG_GUARD_S)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    # Each may have published one more while another read the folder.
    assert len(copies(tmp_path / "cache")) <= LIMITS.cache_files + 3


def _store_until_killed(folder: Path) -> None:
    _store_many(folder, 1_000_000)


def test_a_writer_that_is_killed_leaves_a_count_that_is_never_too_low(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    for at_least in (5, 20, 40):
        process = spawn.Process(target=_store_until_killed, args=(tmp_path,))
        process.start()
        while process.is_alive() and (
            not (tmp_path / "cache").exists() or len(copies(tmp_path / "cache")) < at_least
        ):
            pass
        process.kill()
        process.join(HANG_GUARD_S)
    size = RunningSize(tmp_path / "cache", LIMITS).current()
    assert size.files >= len(copies(tmp_path / "cache"))
    _store_many(tmp_path, 100)
    assert len(copies(tmp_path / "cache")) <= LIMITS.cache_files


def test_files_removed_by_other_processes_evict_no_further_copies(tmp_path: Path) -> None:
    cache = LocalCache(tmp_path / "cache", LIMITS)
    for digest in [store(cache, tmp_path) for _ in range(50)]:
        (tmp_path / "cache" / digest).unlink()
    later = [store(cache, tmp_path) for _ in range(50)]
    assert {path.name for path in copies(tmp_path / "cache")} == set(later)
    assert RunningSize(tmp_path / "cache", LIMITS).current().files == 50


@pytest.mark.parametrize("content", [b"", b"{}", b"null", b'{"size_bytes": 1}', b"\xff" * 5_000])
def test_a_damaged_count_is_corrected(tmp_path: Path, content: bytes) -> None:
    cache = LocalCache(tmp_path / "cache", LIMITS)
    for _ in range(10):
        store(cache, tmp_path)
    (tmp_path / "cache.size").write_bytes(content)
    store(cache, tmp_path)
    size = RunningSize(tmp_path / "cache", LIMITS).current()
    assert (size.files, size.size_bytes) == (11, 11 * 40)


def test_copies_added_while_the_folder_is_read_are_counted(tmp_path: Path) -> None:
    running = RunningSize(tmp_path / "cache", LIMITS)
    before = running.current()
    running.add(7)
    running.correct(before, CacheSize(100, 2))
    assert (running.current().size_bytes, running.current().files) == (107, 3)
