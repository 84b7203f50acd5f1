"""Which bytes a Range header asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.api.files.downloads import ByteRange, Download, describe_file, parse_range


@given(st.integers(0, 1000), st.integers(0, 1000), st.integers(1, 900))
def test_a_range_lies_within_the_file_or_is_refused(first: int, last: int, size: int) -> None:
    if last < first:
        assert parse_range(f"bytes={first}-{last}", size) is None
    elif first >= size:
        with pytest.raises(ValueError, match=rf"bytes \*/{size}"):
            parse_range(f"bytes={first}-{last}", size)
    else:
        assert parse_range(f"bytes={first}-{last}", size) == ByteRange(first, min(last + 1, size))


def test_an_empty_file_has_no_range() -> None:
    for asked in ("bytes=0-", "bytes=-5", "bytes=0-0"):
        with pytest.raises(ValueError, match=r"bytes \*/0"):
            parse_range(asked, 0)


@pytest.mark.parametrize(
    "asked", [None, "", "bytes", "bytes=", "bytes=a-b", "bytes=1-2,3-4", "items=0-1", "bytes=5-1"]
)
def test_anything_else_means_the_whole_file(asked: str | None) -> None:
    assert parse_range(asked, 10) is None


@pytest.mark.parametrize(
    ("name", "media_type", "saved"),
    [
        ("table", "application/vnd.apache.parquet", "table.parquet"),
        ("table.parquet", "application/vnd.apache.parquet", "table.parquet"),
        ("report", "text/html", "report"),
    ],
)
def test_a_saved_file_has_the_suffix_of_its_type(name: str, media_type: str, saved: str) -> None:
    headers = describe_file(Download("digest", 1, media_type, name), attach=True)
    assert f'filename="{saved}"' in headers["Content-Disposition"]
