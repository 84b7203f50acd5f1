"""Bounds of what an upload unpacks to: checked while it is read, so that a bomb costs no more than they say."""

import shutil
from pathlib import Path

from app.errors import TooLarge

MAX_RATIO = 20
"""Unpacked bytes for each byte of the upload. Tables compress to a third to a tenth; bombs to a thousandth."""
MIN_EXPANDED_BYTES = 32 << 20
"""Always allowed, since small tables that repeat themselves compress further; unpacked in about 0.1 s."""
MIN_WORKBOOK_BYTES = 256 << 20
"""The same for workbooks: their XML compresses to a thirtieth, and is measured in 0.5 s but not written."""

MIN_COLUMNAR_BYTES = 512 << 20
"""The same for Parquet, which keeps repeated values once: five million rows of eight sorted columns may lie in
a megabyte, and are read in seconds."""


def check_columnar(upload_bytes: int, expanded_bytes: int) -> None:
    """Refuse a columnar file whose cells take too many bytes for its size. Raises TooLarge."""
    limit_bytes = max(MAX_RATIO * upload_bytes, MIN_COLUMNAR_BYTES)
    if expanded_bytes > limit_bytes:
        raise TooLarge(
            "expands_too_far",
            f"The cells of the file take {expanded_bytes:,} bytes, over {limit_bytes:,}: too many for its"
            f" {upload_bytes:,} bytes, since its values repeat. Send fewer rows, or each value once.",
            limit_bytes=limit_bytes,
        )


class Expansion:
    """Bytes that may still be unpacked from one upload, whatever the layers and members they come from.

    `expanded_bytes`: the operator's bound. `work`: a folder on the disk that is written to, of whose free space
    half may be taken.
    """

    def __init__(self, upload: Path, work: Path, expanded_bytes: int) -> None:
        size_bytes = upload.stat().st_size
        # Half, since the converted table is written beside the unpacked file.
        self._free = shutil.disk_usage(work).free // 2
        self._ratio = MAX_RATIO * size_bytes
        self._operator = expanded_bytes
        self.written_bytes = 0

    def take(self, size_bytes: int) -> None:
        """Count bytes that are about to be written; raises TooLarge before they are too many."""
        self.written_bytes += size_bytes
        self._refuse_beyond(min(self._operator, max(self._ratio, MIN_EXPANDED_BYTES), self._free))

    def measure(self, size_bytes: int) -> None:
        """Count bytes of a workbook, which are read where they are."""
        self.written_bytes += size_bytes
        self._refuse_beyond(min(self._operator, max(self._ratio, MIN_WORKBOOK_BYTES)))

    def _refuse_beyond(self, limit_bytes: int) -> None:
        if self.written_bytes <= limit_bytes:
            return
        raise TooLarge(
            "expands_too_far",
            f"The file unpacks to more than {limit_bytes:,} bytes{self._reason(limit_bytes)}.",
            limit_bytes=limit_bytes,
        )

    def _reason(self, limit_bytes: int) -> str:
        if limit_bytes == self._operator:
            return ""
        if limit_bytes == self._free:
            return ", half of what is free on the disk: make room there"
        if limit_bytes == self._ratio:
            return f", {MAX_RATIO} times its size: send the table itself"
        return ", too many for its size: send the table itself"
