import os
from pathlib import Path

from app.sandbox.outputs.scratch_folders import Scratch, sweep


def test_a_living_process_keeps_its_folder(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    (scratch.path / "cell-1").mkdir()
    assert sweep(tmp_path) == 0
    assert (scratch.path / "cell-1").exists()
    scratch.close()


def test_what_a_killed_process_left_is_swept(tmp_path: Path) -> None:
    pid = os.fork()
    if pid == 0:
        (Scratch(tmp_path).path / "cell-1").mkdir()
        os._exit(0)
    os.waitpid(pid, 0)
    assert sweep(tmp_path) == 1
    assert list(tmp_path.iterdir()) == []


def test_closing_leaves_nothing(tmp_path: Path) -> None:
    Scratch(tmp_path).close()
    assert list(tmp_path.iterdir()) == []
