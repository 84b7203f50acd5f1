"""Files with secrets that another user planted, opened or could exchange."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from app.auth.signing_secret import load_signing_secrets
from app.cli.connection.service_file import ServiceAddresses, publish_addresses
from app.errors import InvalidInput
from app.private_files import MAX_SECRET_BYTES, read_private, write_private

SECRET = "s" * 64
STRANGER = 54321
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file of another user")


def planted_by_a_stranger(path: Path) -> None:
    write_private(path, SECRET)
    os.chown(path, STRANGER, STRANGER)


def in_a_strangers_folder(path: Path) -> None:
    write_private(path, SECRET)
    os.chown(path.parent, STRANGER, STRANGER)


def readable_by_all(path: Path) -> None:
    write_private(path, SECRET)
    path.chmod(0o644)


def writable_by_the_group(path: Path) -> None:
    write_private(path, SECRET)
    path.chmod(0o620)


def in_a_folder_that_all_write(path: Path) -> None:
    write_private(path, SECRET)
    path.parent.chmod(0o777)


def in_a_folder_that_the_group_writes(path: Path) -> None:
    write_private(path, SECRET)
    path.parent.chmod(0o770)


def a_link(path: Path) -> None:
    write_private(path.with_name("elsewhere"), SECRET)
    path.symlink_to("elsewhere")


def a_dangling_link(path: Path) -> None:
    path.symlink_to("nowhere")


def a_folder(path: Path) -> None:
    path.mkdir(mode=0o700)


def a_named_pipe(path: Path) -> None:
    os.mkfifo(path, 0o600)


def too_large(path: Path) -> None:
    write_private(path, "s" * (MAX_SECRET_BYTES + 1))


def no_text(path: Path) -> None:
    path.touch(mode=0o600)
    path.write_bytes(b"\xff" * 64)


Plant = Callable[[Path], None]
PLANTS = [
    pytest.param(planted_by_a_stranger, marks=needs_root),
    pytest.param(in_a_strangers_folder, marks=needs_root),
    readable_by_all,
    writable_by_the_group,
    in_a_folder_that_all_write,
    in_a_folder_that_the_group_writes,
    a_link,
    a_dangling_link,
    a_folder,
    a_named_pipe,
    too_large,
    no_text,
]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    return home


@pytest.mark.parametrize("plant", PLANTS)
def test_a_secret_that_another_could_have_written_or_read_signs_nothing(home: Path, plant: Plant) -> None:
    plant(home / "secret_key")
    with pytest.raises(InvalidInput) as refused:
        load_signing_secrets(None, [], home, production=False)
    assert refused.value.code == "file_not_private"
    assert str(home) in refused.value.detail


@pytest.mark.parametrize("text", ["", "\n", "short", f"{SECRET}\nshort"])
def test_a_file_without_a_secret_is_refused(home: Path, text: str) -> None:
    write_private(home / "secret_key", text)
    with pytest.raises(InvalidInput, match="Remove it"):
        load_signing_secrets(None, [], home, production=False)


def test_a_configured_secret_reads_no_file(home: Path) -> None:
    readable_by_all(home / "secret_key")
    assert load_signing_secrets(SECRET, [], home, production=False) == (SECRET,)


def test_a_folder_made_for_the_secret_is_private(tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        load_signing_secrets(None, [], tmp_path / "new", production=False)
    finally:
        os.umask(mask)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "new" / "secret_key").stat().st_mode & 0o777 == 0o600


def test_an_own_file_in_a_sticky_shared_folder_is_read(home: Path) -> None:
    write_private(home / "secret_key", SECRET)
    home.chmod(0o1777)
    assert load_signing_secrets(None, [], home, production=False) == (SECRET,)


def test_writing_replaces_a_link_and_not_the_file_behind_it(home: Path) -> None:
    a_link(home / "service.json")
    with publish_addresses(home, ServiceAddresses("http://lab", "postgresql://", "redis://", 1)):
        assert (home / "elsewhere").read_text() == SECRET
        assert "http://lab" in read_private(home / "service.json")
