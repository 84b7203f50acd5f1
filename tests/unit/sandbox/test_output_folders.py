import os
from pathlib import Path

import pytest

from app.sandbox.outputs.folders import MAX_ENTRIES, copy_out, remove, survey


def test_regular_files_are_listed_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "two.csv").write_text("22")
    (tmp_path / "one.txt").write_text("1")
    (tmp_path / ".hidden").write_text("333")
    (tmp_path / ".secret").mkdir()
    (tmp_path / ".secret" / "file").write_text("")
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "out").symlink_to("/etc")
    os.mkfifo(tmp_path / "pipe")
    content = survey(tmp_path)
    assert content.files == ("b/two.csv", "one.txt")


def test_a_sparse_file_counts_with_its_apparent_size(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 30)
    assert survey(tmp_path).exceeds(1 << 20)


def test_too_many_empty_files_exceed_the_limit(tmp_path: Path) -> None:
    for number in range(MAX_ENTRIES + 1):
        (tmp_path / str(number)).touch()
    assert survey(tmp_path).exceeds(1 << 40)


@pytest.mark.parametrize("depth", [100, 1_500])
def test_a_folder_deeper_than_the_longest_path_is_surveyed_and_removed(tmp_path: Path, depth: int) -> None:
    nest = tmp_path / "nest"
    nest.mkdir()
    here = os.open(nest, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("deeper-and-deeper", dir_fd=here)
        below = os.open("deeper-and-deeper", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    assert survey(nest).entries > 0
    remove(nest)
    assert not nest.exists()


def test_an_unreadable_folder_is_removed(tmp_path: Path) -> None:
    (tmp_path / "nest" / "shut" / "inner").mkdir(parents=True)
    (tmp_path / "nest" / "shut").chmod(0)
    remove(tmp_path / "nest")
    assert not (tmp_path / "nest").exists()


def test_copies_keep_names_and_bytes(tmp_path: Path) -> None:
    source, target = tmp_path / "from", tmp_path / "to"
    (source / "a").mkdir(parents=True)
    (source / "a" / "b.bin").write_bytes(b"123")
    copy_out(source, target, survey(source).files)
    assert (target / "a" / "b.bin").read_bytes() == b"123"
