"""Uploads in pieces on a host whose stale files are removed."""

import os
from pathlib import Path
from uuid import uuid4

from app.datasets.partial_uploads import PartialUploads
from app.deletion.stale_files import remove_stale_files

DAY_S = 86_400.0


async def test_an_upload_stays_for_a_day_after_its_last_piece(tmp_path: Path) -> None:
    uploads = PartialUploads(uuid4(), tmp_path / "uploads")
    continued, given_up = uploads.begin("continued.csv", 4), uploads.begin("given_up.csv", 4)
    for path in uploads.folder.iterdir():
        begun_at = path.stat().st_mtime - 2 * DAY_S
        os.utime(path, (begun_at, begun_at))
    continued.append(0, b"a\n")
    assert await remove_stale_files(tmp_path, None, DAY_S) == 2
    assert uploads.get(continued.id).offset == 2
    assert [path for path in uploads.folder.iterdir() if str(given_up.id) in path.name] == []
