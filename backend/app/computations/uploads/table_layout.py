"""Layout of delimited text under a candidate delimiter: its rows, their width, and the titles above. Pure."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from app.computations.uploads.header_rows import has_evident_header, is_header, is_measure

MAX_LEAD_ROWS = 1_000
"""Rows before the table: instruments write some hundred lines of settings."""
MAX_TITLE_FIELDS = 2
"""Fields of a line before the table: a title, or a name and its value."""
MIN_TABLE_ROWS = 3
"""Rows of a table below more lines of settings: its header and two more."""
MIN_STABLE_SHARE = 0.9
"""Share of rows of one width below titles, and of marks of one kind: broken lines may be the rest."""
_SURE_MARKS = "\t;|"
"""Delimiters that seldom stand in texts and numbers."""
_FIELD_BYTES = 64 << 20
"""Limit of the `csv` module for a field: above the longest line that is read."""


@dataclass(frozen=True)
class Layout:
    """Layout under a candidate delimiter: `width` of most rows, their `share`, and the `lead` rows above."""

    delimiter: str
    rows: list[list[str]]
    width: int
    share: float
    lead: int
    ends: tuple[int, ...] = ()
    """Characters up to the end of each row. Lines would not do: a field may have line breaks."""

    def chars_before(self, row: int) -> int:
        return self.ends[row - 1] if row else 0


class CountedLines:
    """Iterator of lines that counts their characters, also of lines that a reader joins to one row."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self.chars = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.chars += len(line)
        return line


def make_reader(lines: Iterable[str], delimiter: str, quote: str, escape: str) -> Any:
    """Make a `csv.reader`; its type is private to the module."""
    csv.field_size_limit(_FIELD_BYTES)
    return csv.reader(
        lines,
        delimiter=delimiter,
        quotechar=quote,
        doublequote=escape == quote,
        escapechar=None if escape == quote else escape,
    )


def lay_out(sample: str, delimiter: str, quote: str, escape: str, is_complete: bool) -> Layout:
    rows: list[list[str]] = []
    ends: list[int] = []
    # Lines end where DuckDB ends them: `\n`, `\r\n` and `\r` are kept as they are.
    lines = CountedLines(io.StringIO(sample, newline=""))
    try:
        for row in make_reader(lines, delimiter, quote, escape):
            if row:
                rows.append(row)
                ends.append(lines.chars)
    except csv.Error:
        return Layout(delimiter, [], 0, 0.0, 0)
    if not is_complete and len(rows) > 1:
        # The sample may end within a row.
        rows.pop()
    if not rows:
        return Layout(delimiter, [], 0, 0.0, 0)
    width = _table_width(rows)
    lead = next(n for n, row in enumerate(rows) if len(row) == width)
    if lead > MAX_LEAD_ROWS or width < 2 or not _are_titles(rows, lead, width, delimiter):
        lead, width = 0, width if has_row_names(rows) else len(rows[0])
    lead += _count_padded_titles(rows[lead:], width)
    share = sum(len(row) == width for row in rows[lead:]) / len(rows[lead:])
    return Layout(delimiter, rows, width, share, lead, tuple(ends))


def has_row_names(rows: Sequence[Sequence[str]]) -> bool:
    """Test for a header without a name for the first column, as R's `write.table` writes it."""
    width = len(rows[0]) + 1
    below = rows[1:]
    if width <= MAX_TITLE_FIELDS or len(below) < MIN_TABLE_ROWS or any(len(row) != width for row in below):
        return False
    # A mark at the end of each line leaves the last field empty, and each name of a row stands once.
    names = {row[0] for row in below}
    return len(names) == len(below) and all(row[-1].strip() for row in below) and is_header(rows)


def _table_width(rows: Sequence[Sequence[str]]) -> int:
    """The most frequent width, or that of a table below more lines of settings."""
    # Of equal ones the larger, since titles are narrow.
    width, _ = max(Counter(map(len, rows)).items(), key=lambda item: (item[1], item[0]))
    lead = next((n for n, row in enumerate(rows) if len(row) > MAX_TITLE_FIELDS), 0)
    below = rows[lead:]
    wide = len(rows[lead])
    if width <= MAX_TITLE_FIELDS < wide and lead <= MAX_LEAD_ROWS and len(below) >= MIN_TABLE_ROWS:
        share = sum(len(row) == wide for row in below) / len(below)
        return wide if share >= MIN_STABLE_SHARE else width
    return width


def _are_titles(rows: Sequence[Sequence[str]], lead: int, width: int, delimiter: str) -> bool:
    """Test whether rows before the first one of the table's width are titles, or names with their values."""
    titles = rows[:lead]
    if lead == 1 and len(titles[0]) == 1:
        return has_evident_header(rows[1:]) or not _is_single_column(rows[1:], width, delimiter)
    if all(len(row) <= 1 or not all(row) for row in titles):
        return True
    if has_evident_header(rows[lead:]):
        return True  # a title with commas of its own
    # A header that lacks the name of the first column is one field shorter than the rows.
    is_headless = lead == 1 and len(titles[0]) == width - 1
    return width > MAX_TITLE_FIELDS and all(len(row) <= MAX_TITLE_FIELDS for row in titles) and not is_headless


_INTEGER = re.compile(r"[-+]?\d++", re.ASCII)
THOUSANDS_DIGITS = 3
"""Digits of a number between two separators of thousands."""


def _is_single_column(rows: Sequence[Sequence[str]], width: int, delimiter: str) -> bool:
    """Test whether a mark in the rows below a single word is one of their texts, numbers or times."""
    if delimiter not in _SURE_MARKS + ",":
        return True
    judged = [row for row in rows[:MAX_LEAD_ROWS] if len(row) == width]
    # `Jansen, Jan`: a mark that separates fields has no space behind it.
    prose = sum(all(cell.startswith(" ") for cell in row[1:]) for row in judged)
    if prose >= MIN_STABLE_SHARE * len(judged):
        return True
    # `42,19`: two columns of whole numbers below a single name are one of numbers.
    numbers = sum(
        _INTEGER.fullmatch(row[0].strip()) is not None
        and (width == 2 or len(row[0].strip(" +-")) <= THOUSANDS_DIGITS)
        and all(cell.strip().isdigit() for cell in row[1:])
        for row in judged
    )
    return delimiter == "," and numbers >= MIN_STABLE_SHARE * len(judged)


def _count_padded_titles(rows: Sequence[Sequence[str]], width: int) -> int:
    """Count titles, pairs and empty lines of a spreadsheet, padded to the table's width."""
    max_filled = min(MAX_TITLE_FIELDS, width - 1)
    bound = min(len(rows) - 2, MAX_LEAD_ROWS)
    lead = (
        next((n for n in range(max(0, bound) + 1) if len(_filled(rows[n])) > max_filled), 0)
        if max_filled
        else 0
    )
    if not lead or not all(_is_title(row) for row in rows[:lead]):
        return 0
    if all(len(_filled(row)) <= 1 for row in rows[:lead]):
        return lead if len(rows[lead]) == width else 0
    return lead if _are_pairs(rows, lead) else 0


def _filled(row: Sequence[str]) -> dict[int, str]:
    return {place: cell.strip() for place, cell in enumerate(row) if cell.strip()}


def _is_title(row: Sequence[str]) -> bool:
    """Test for an empty row, a title, or a name in the first field with its value behind it."""
    filled = _filled(row)
    places = sorted(filled)
    if len(filled) > 1 and places != [0, 1]:
        return False
    return not filled or not is_measure(filled[places[0]])


def _are_pairs(rows: Sequence[Sequence[str]], lead: int) -> bool:
    """Test whether rows of two filled fields are above the header, and none of a group of columns."""
    header, above = _filled(rows[lead]), [_filled(row) for row in rows[:lead]]
    if not is_header(rows[lead:]) or (0 not in header and above[-1]):
        return False
    # A header whose other columns have no names resembles a pair.
    has_frame = any(len(filled) < MAX_TITLE_FIELDS for filled in above)
    has_colon = all(filled[0].endswith((":", "=")) for filled in above if len(filled) > 1)
    return has_frame or has_colon or has_evident_header(rows[lead:])
