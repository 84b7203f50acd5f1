"""The zone of a terminal, from its variable or from the system's link."""

from pathlib import Path

import pytest

from app.cli.terminal.local_zone import find_local_zone


@pytest.mark.parametrize(
    ("tz", "zone"),
    [
        ("Europe/Oslo", "Europe/Oslo"),
        (":Asia/Tokyo", "Asia/Tokyo"),
        ("/usr/share/zoneinfo/America/Lima", "America/Lima"),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "Africa/Cairo"),
        ("", "Africa/Cairo"),
    ],
)
def test_the_zone_of_the_variable_comes_before_that_of_the_system(tmp_path: Path, tz: str, zone: str) -> None:
    link = tmp_path / "localtime"
    link.symlink_to("/usr/share/zoneinfo/Africa/Cairo")
    assert find_local_zone(tz, link) == zone


def test_a_system_without_a_named_zone_is_in_utc(tmp_path: Path) -> None:
    assert find_local_zone("", tmp_path / "localtime") == "UTC"
    (tmp_path / "localtime").write_bytes(b"TZif2")
    assert find_local_zone("nowhere", tmp_path / "localtime") == "UTC"
