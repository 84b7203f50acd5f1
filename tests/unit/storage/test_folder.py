import os
import time
from pathlib import Path

import pytest

from app.storage.folder import _take_away, now_in


def test_bytes_that_were_written_again_just_before_they_go_are_put_back(tmp_path: Path) -> None:
    blob = tmp_path / "ab12"
    blob.write_bytes(b"again")
    assert not _take_away(blob, until=60)
    assert blob.read_bytes() == b"again"
    os.utime(blob, (0, 0))
    assert _take_away(blob, until=60)
    assert list(tmp_path.iterdir()) == []
    assert not _take_away(blob, until=60)


def test_the_time_is_that_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 0.0)
    blob = tmp_path / "ab12"
    blob.touch()
    assert abs(now_in(tmp_path) - blob.stat().st_mtime) < 60
    assert [path.name for path in tmp_path.iterdir()] == ["ab12"]
