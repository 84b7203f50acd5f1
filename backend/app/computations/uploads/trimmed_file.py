"""Copies of delimited files that have rows only, for a reader that counts lines in its own way."""

import csv
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.computations.uploads.non_data_rows import Footer

_LINE_END = r"\r\n|\n|\r"
_NEXT_LINE_CHARS = 64 << 10
"""Characters in which the first line of rows ends, or one that is longer is cut off with the head."""
_PIECE_BYTES = 4 << 20
"""Bytes copied at a time: little memory, and few calls."""


@dataclass(frozen=True)
class TrimmedFile:
    """A file without footer, and without the lines before its rows but perhaps a header of one line.

    `cut_lines`: lines of the original before the first one.
    """

    path: Path
    has_header_line: bool
    cut_lines: int = 0


def trim_file(path: Path, target: Path, sample: str, head_chars: int, footer: Footer | None) -> TrimmedFile:
    """Copy a file without the text before its rows and its footer; return the file itself if it needs no cut.

    `sample`: the beginning of the file, of which `head_chars` are before the rows.

    DuckDB skips lines and csv.reader counts rows: they differ where a title or a name has line breaks, or where
    lines are blank. A cut by bytes leaves nothing to count.
    """
    # The copy of a large file costs disk, and a header of one line is read alike by both.
    head = sample[:head_chars]
    has_header_line = _is_one_line(head, sample)
    skip_bytes = 0 if has_header_line else len(head.encode())
    if not skip_bytes and not footer:
        return TrimmedFile(path, has_header_line)
    with path.open("rb") as source, target.open("wb") as file:
        source.seek(skip_bytes)
        shutil.copyfileobj(source, file, _PIECE_BYTES)
        if footer:
            file.truncate(footer.size_bytes - skip_bytes)
    return TrimmedFile(target, has_header_line, 0 if has_header_line else _count_lines(head))


def _is_one_line(head: str, sample: str) -> bool:
    """Test for one line that ends as the next one does: DuckDB reads one kind of line ends."""
    ends = re.findall(_LINE_END, sample[: 2 * len(head) + _NEXT_LINE_CHARS])[:2]
    return _count_lines(head) == 1 and head.endswith("\n") and len(set(ends)) == 1


def _count_lines(text: str) -> int:
    # By what ends a line of CSV: `str.splitlines` also splits at marks that separate fields.
    return len(re.findall(_LINE_END, text))


def write_rows(target: Path, rows: Iterable[Sequence[str]]) -> Path:
    """Write rows as plain CSV without a header."""
    with target.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    return target
