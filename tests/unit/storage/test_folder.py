import errno
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from app.storage.blobs import BlobLimits, StoreUnavailable
from app.storage.folder import FolderBlobs, _delete_if_old, folder_time

FillDisk = Callable[[int], None]


@pytest.fixture
def fill_disk(monkeypatch: pytest.MonkeyPatch) -> FillDisk:
    """For so many writes."""

    def fill(times: int) -> None:
        left, fsync = iter(range(times)), os.fsync

        def full(descriptor: int) -> None:
            if next(left, None) is not None:
                raise OSError(errno.ENOSPC, "No space left on device")
            fsync(descriptor)

        monkeypatch.setattr("app.storage.folder.os.fsync", full)

    return fill


async def test_a_full_disk_is_waited_for(tmp_path: Path, fill_disk: FillDisk) -> None:
    fill_disk(2)
    blobs = FolderBlobs(tmp_path / "blobs")
    blob = await blobs.put_bytes(b"x")
    assert (await blobs.local_path(blob.digest)).read_bytes() == b"x"


async def test_a_disk_that_stays_full_is_an_unavailable_store(tmp_path: Path, fill_disk: FillDisk) -> None:
    fill_disk(10)
    blobs = FolderBlobs(tmp_path / "blobs", BlobLimits(max_wait_s=0))
    with pytest.raises(StoreUnavailable, match="full"):
        await blobs.put_bytes(b"x")
    assert not [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()]


def test_bytes_that_were_written_again_just_before_they_go_are_put_back(tmp_path: Path) -> None:
    blob = tmp_path / "ab12"
    blob.write_bytes(b"again")
    assert not _delete_if_old(blob, until=60)
    assert blob.read_bytes() == b"again"
    os.utime(blob, (0, 0))
    assert _delete_if_old(blob, until=60)
    assert list(tmp_path.iterdir()) == []
    assert not _delete_if_old(blob, until=60)


def test_ages_are_measured_by_the_folders_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 0.0)
    blob = tmp_path / "ab12"
    blob.touch()
    assert abs(folder_time(tmp_path) - blob.stat().st_mtime) < 60
    assert [path.name for path in tmp_path.iterdir()] == ["ab12"]
