"""Conversion of text whose columns stand below each other, padded with spaces, to CSV."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from app.computations.uploads.column_names import check_width
from app.computations.uploads.foreign_text import HEAD_CHARS
from app.computations.uploads.header_rows import measure_columns
from app.computations.uploads.table_layout import MIN_STABLE_SHARE, lay_out
from app.errors import InvalidInput

MIN_LINES = 3
"""Lines of a table of fixed-width columns: its header and two more."""
MIN_WORD_LINES = 10
"""Lines of a table without numbers: gaps between the words of fewer may stand below each other by chance."""
MIN_COLUMNS = 2
"""Columns with which lines of equal gaps are a table."""
MIN_ALIGNED_SHARE = 0.5
"""Share of lines with two spaces in a row, which pad a column and seldom stand in texts."""
MIN_UNNAMED_GAP = 2
"""Spaces between the numbers of rows, which have no name, and the first column: one also stands in a value."""
MAX_BYTES = 64 << 20
"""Size of a file of fixed-width columns: it is split line by line in Python, at some 20 MB a second."""
_FIELD = re.compile(r"\S++")
_RULE = re.compile(r"[-+ ]++\Z")
"""A line below the header that databases draw."""
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
_MARKS = ",~^"
"""Delimiters that may stand beside padding; a tab, a semicolon or a bar rules out fixed widths anywhere."""


@dataclass(frozen=True)
class _Column:
    """Places of a column, from the first up to the gap behind it."""

    start: int
    end: int


def split_fixed_width(path: Path, head: str, target: Path) -> Path | None:
    """Write the columns as CSV; None for other text.

    Raises InvalidInput with the line that crosses a gap between the columns of the head.
    """
    complete = list(io.StringIO(head, newline=None))
    complete = complete[:-1] if len(head) == HEAD_CHARS else complete
    lines = [line.rstrip() for line in complete if line.strip()]
    if len(lines) < MIN_LINES or path.stat().st_size > MAX_BYTES or not _is_aligned(lines, head):
        return None
    places = _OccupiedPlaces(lines[0])
    for line in lines:
        places.add(line)
    columns = places.find_columns()
    if len(columns) < MIN_COLUMNS:
        return None
    if len(lines) < MIN_WORD_LINES and not measure_columns(list(_split_lines(lines[1:], columns))):
        return None
    check_width(len(columns))
    columns = _fit_all_lines(path, places, columns)
    with path.open(encoding="utf-8") as source, target.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(_split_lines(source, columns))
    return target


def _is_aligned(lines: Sequence[str], head: str) -> bool:
    """Test for lines that are padded with spaces, and are no sentences and no fields between marks."""
    if re.search(r"[\t;|]", head) or any(_is_delimited(lines, mark) for mark in _MARKS if mark in head):
        return False
    aligned = sum("  " in line.strip() for line in lines)
    is_prose = sum(line.count(", ") for line in lines) >= len(lines)
    return aligned >= MIN_ALIGNED_SHARE * len(lines) and not is_prose


def _is_delimited(lines: Sequence[str], mark: str) -> bool:
    """Test whether a mark gives all lines one number of fields, also where spaces pad the fields."""
    text = "\n".join(lines)
    layout = lay_out(text, mark, '"', '"', is_complete=True)
    if layout.width < MIN_COLUMNS or layout.share < MIN_STABLE_SHARE:
        return False
    if layout.lead:
        # Below a line without a mark they may stand in names, as in `Doe,John`.
        return sum(_has_padded_mark(line, mark) for line in lines) >= MIN_STABLE_SHARE * len(lines)
    return mark != "," or text.count(mark) > len(_DECIMAL_COMMA.findall(text))


def _has_padded_mark(line: str, mark: str) -> bool:
    return f"{mark} " in line or f" {mark}" in line


class _OccupiedPlaces:
    """Places of a line that any line has a character at."""

    def __init__(self, header: str) -> None:
        self._header = header
        self._any = bytearray(len(header))
        self._body = bytearray(len(header))
        self._has_header = False

    def add(self, line: str) -> None:
        """Add a line; the first is the header."""
        targets = (self._any, self._body) if self._has_header else (self._any,)
        self._has_header = True
        for places in targets:
            places.extend(bytes(max(0, len(line) - len(places))))
        for match in _FIELD.finditer(line):
            for places in targets:
                places[match.start() : match.end()] = b"\1" * (match.end() - match.start())

    def find_columns(self) -> list[_Column]:
        """Columns with a name, between which the widest gap separates, and one of unnamed numbers of rows."""
        runs = [match.span() for match in re.finditer(rb"\x01++", self._any)]
        titled = [place for place in range(len(runs)) if self._is_named(runs, place)]
        if not titled:
            return []
        # A gap inside a value, as in `Person 1`, has no name of its own above it.
        cuts = [_widest_gap(runs, first, second) for first, second in pairwise(titled)]
        if titled[0] and _gap(runs, first := _widest_gap(runs, 0, titled[0])) >= MIN_UNNAMED_GAP:
            cuts.insert(0, first)
        starts = [0, *(runs[cut][0] for cut in cuts)]
        ends = [*(runs[cut - 1][1] for cut in cuts), runs[-1][1]]
        return [_Column(start, end) for start, end in zip(starts, ends, strict=True)]

    def _is_named(self, runs: Sequence[tuple[int, int]], place: int) -> bool:
        start, end = runs[place]
        if not self._header[start:end].strip():
            return False
        if any(self._body[start:end]):
            return True
        # One of several words of a header, or the name of an empty column, which stands apart.
        before = place == 0 or _gap(runs, place) >= MIN_UNNAMED_GAP
        return before and (place + 1 == len(runs) or _gap(runs, place + 1) >= MIN_UNNAMED_GAP)


def _gap(runs: Sequence[tuple[int, int]], place: int) -> int:
    """Width of the gap before a run."""
    return runs[place][0] - runs[place - 1][1]


def _widest_gap(runs: Sequence[tuple[int, int]], first: int, last: int) -> int:
    """The run behind the widest gap between two runs, the last one of equal gaps."""
    return max(range(first + 1, last + 1), key=lambda place: (_gap(runs, place), place))


def _fit_all_lines(path: Path, places: _OccupiedPlaces, columns: list[_Column]) -> list[_Column]:
    """Fit the columns of the head to all lines of the file, of which a later one may be wider."""
    gaps = [(before.end, column.start) for before, column in pairwise(columns)]
    wide: list[int] = []
    crossing: list[int] = []
    with path.open(encoding="utf-8") as source:
        for number, line in enumerate(source, start=1):
            text = line.rstrip()
            parts = [part for start, end in gaps if (part := text[start:end]).strip()]
            if parts or len(text) > columns[-1].end:
                places.add(text)
                wide.append(number)
                crossing += [number] if any(" " not in part for part in parts) else []
    # Once, since a search for each wide line would take the product of their number and their width.
    fitted = places.find_columns()
    if len(fitted) != len(columns):
        line_number = (crossing or wide)[0]
        raise InvalidInput(
            "unaligned_line",
            f"Line {line_number} crosses a gap between the columns, which have a fixed width: save the table"
            " with a mark between its fields, as CSV has.",
            line=line_number,
        )
    return fitted


def _split_lines(lines: Iterable[str], columns: Sequence[_Column]) -> Iterator[list[str]]:
    starts = [column.start for column in columns]
    spans = list(zip(starts, [*starts[1:], None], strict=True))
    filled = (line for line in lines if line.strip())
    for number, line in enumerate(filled):
        if number != 1 or "--" not in line or not _RULE.match(line.rstrip()):
            yield [line[start:end].strip() for start, end in spans]
