import os
from functools import partial
from pathlib import Path

import pytest

from app.cli.administration.backup_folder import _copy_out
from app.storage.blobs import BlobLimits
from app.storage.folder import FolderBlobs


async def test_a_blob_above_the_default_limit_is_backed_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FolderBlobs(tmp_path / "store")
    blob = await store.put_bytes(b"admitted by the settings")
    # Listed are blobs of an earlier tick of the file system's clock, which a fast machine stays within.
    os.utime(await store.local_path(blob.digest), (1, 1))
    monkeypatch.setattr("app.storage.folder.BlobLimits", partial(BlobLimits, max_bytes=4))
    assert await _copy_out(store, tmp_path / "backups") == [blob.digest]
    copies = FolderBlobs(tmp_path / "backups" / "blobs")
    assert (await copies.local_path(blob.digest)).read_bytes() == b"admitted by the settings"
