"""Detection of the dialect of delimited text: delimiter, quote, header and lines before the table. Pure."""

import csv
import io
import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.computations.uploads.column_names import check_width
from app.computations.uploads.column_types import DATE_RULES, INTEGER, TYPE_RULES
from app.computations.uploads.non_data_rows import is_unit_row
from app.modeling.type_inference.vocabulary import NULL_TOKENS

_LIKELY = "\t;,|"
_RARE = "^~:\x1f\x1e\x01 "
_CONSISTENT = 0.9
"""Share of rows of equal width from which a delimiter fits: titles and broken lines may be the rest."""
_HEAD = 64 << 10
"""Bytes that are searched for delimiters: a mark that separates fields stands in the first lines."""
MAX_LEAD_ROWS = 20
"""Rows before the table: more are no titles."""
MAX_TITLE_FIELDS = 2
"""Fields of a line before the table: a title, or a name and its value."""
MIN_ROWS_WITH_UNITS = 3
"""Rows of a file, its header included, of which the second may be units: below it there are others."""
MIN_DATED_COLUMNS = 3
"""Dates in the first row from which they may be names of columns: fewer are values of a row without names."""
_FIELD_BYTES = 64 << 20
"""Limit of the `csv` module for a field: above the longest line that is read."""


@dataclass(frozen=True)
class Dialect:
    """`skip`: lines before the table. `names`: those of the header, or empty strings without one.

    `units`: a row of units below the header. `head_chars`: characters of the file before its first row.
    """

    delimiter: str
    quote: str = '"'
    escape: str = '"'
    skip: int = 0
    header: bool = True
    names: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    head_chars: int = 0


@dataclass(frozen=True)
class _Layout:
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


def sniff(sample: str, is_complete: bool, delimiter: str | None = None) -> tuple[Dialect, list[list[str]]]:
    """Detect the dialect of the beginning of a file; return it with the data rows.

    `is_complete`: the sample is the complete file; else its last row may be cut and does not count.
    """
    text = sample
    skip_chars, declared = _preamble(sample)
    sample = sample[skip_chars:]
    quote, escape = _quoting(sample)
    delimiter = delimiter or declared
    marks = [delimiter] if delimiter else _marks(sample)
    has_line = is_complete or _ends_a_line(sample)
    if not has_line:
        # Before the layouts: a single line of millions of fields would be laid out for each mark.
        check_width(_partial_width(sample, marks, quote, escape), at_least=True)
    best = max((_lay_out(sample, mark, quote, escape, is_complete) for mark in marks), key=_merit)
    if has_line:
        check_width(best.width)
    rows = best.rows[best.lead :]
    head_chars = skip_chars + best.chars_before(best.lead)
    dialect = Dialect(best.delimiter, quote, escape, text.count("\n", 0, head_chars), head_chars=head_chars)
    if not rows:
        return dialect, []
    header = _is_header(rows)
    if not header:
        return replace(dialect, header=False, names=("",) * best.width), rows
    dialect = replace(dialect, names=tuple(rows[0]))
    head_rows = 1
    if len(rows) > MIN_ROWS_WITH_UNITS and is_unit_row(rows[1], rows[2:]):
        dialect, head_rows = replace(dialect, units=tuple(rows[1])), 2
    head_chars = skip_chars + best.chars_before(best.lead + head_rows)
    return replace(dialect, head_chars=head_chars), rows[head_rows:]


def _ends_a_line(sample: str) -> bool:
    return "\n" in sample or "\r" in sample


def _partial_width(sample: str, marks: Sequence[str], quote: str, escape: str) -> int:
    """Count the fields of a first line that is longer than the sample.

    Without quotes, by the likely mark that splits it most. With quotes, by the one that splits it least: a mark
    inside a long quoted text splits it, but the delimiter does not.
    """
    rows: Iterator[list[str]] = (
        next(_reader(io.StringIO(sample, newline=""), mark, quote, escape), [])
        for mark in marks
        if mark in _LIKELY
    )
    widths = [len(row) for row in rows if len(row) > 1]
    return (min if quote in sample else max)(widths, default=1)


def _reader(lines: Iterable[str], delimiter: str, quote: str, escape: str) -> Any:
    """Make a `csv.reader`; its type is private to the module."""
    csv.field_size_limit(_FIELD_BYTES)
    return csv.reader(
        lines,
        delimiter=delimiter,
        quotechar=quote,
        doublequote=escape == quote,
        escapechar=None if escape == quote else escape,
    )


def _marks(sample: str) -> list[str]:
    """List candidate delimiters: those near the beginning, and the tab, for a single column."""
    head = sample[:_HEAD]
    return [mark for mark in (*_LIKELY, *_RARE, *_unusual(head)) if mark in head or mark == "\t"]


def _preamble(sample: str) -> tuple[int, str | None]:
    """Find lines to skip (Excel's `sep=;`, comments, blank lines); return their characters, and the delimiter
    that they declare."""
    start, declared = 0, None
    # By position: cutting the sample at each of a million blank lines would copy it a million times.
    while start < len(sample):
        end = sample.find("\n", start)
        line = sample[start : len(sample) if end < 0 else end]
        separator = re.fullmatch(r"sep=(.)\r?", line)
        if not (separator or line.startswith(("# ", "##")) or not line.strip(" \r")) or end < 0:
            break
        declared = separator[1] if separator else declared
        start = end + 1
    return start, declared


def _quoting(sample: str) -> tuple[str, str]:
    # Only where no double quote stands: an apostrophe is a letter of many words.
    if '"' not in sample and re.search(r"(?m)(?:^|[,;\t|])'[^'\n]*'(?:[,;\t|\r]|$)", sample):
        return "'", "'"
    return '"', "\\" if re.search(r'\\"[^,;\t|\r\n]', sample) and '""' not in sample else '"'


def _unusual(sample: str) -> list[str]:
    """List other marks that every line has equally often."""
    lines = [line for line in sample.splitlines()[:50] if line]
    ordinary = set(string.ascii_letters + string.digits + _LIKELY + _RARE + "\"'._-+\r\n\\#/")
    marks = sorted(set(lines[0]) - ordinary) if len(lines) > 1 else []
    return [mark for mark in marks if mark.isascii() and len({line.count(mark) for line in lines}) == 1]


def _lay_out(sample: str, delimiter: str, quote: str, escape: str, is_complete: bool) -> _Layout:
    rows: list[list[str]] = []
    ends: list[int] = []
    # Lines end where DuckDB ends them: `\n`, `\r\n` and `\r` are kept as they are.
    lines = CountedLines(io.StringIO(sample, newline=""))
    try:
        for row in _reader(lines, delimiter, quote, escape):
            if row:
                rows.append(row)
                ends.append(lines.chars)
    except csv.Error:
        return _Layout(delimiter, [], 0, 0.0, 0)
    if not is_complete and len(rows) > 1:
        # The sample may end within a row.
        rows.pop()
    if not rows:
        return _Layout(delimiter, [], 0, 0.0, 0)
    # The most frequent width; of equal ones the larger, since titles are narrow.
    width, _ = max(Counter(map(len, rows)).items(), key=lambda item: (item[1], item[0]))
    lead = next(n for n, row in enumerate(rows) if len(row) == width)
    if lead > MAX_LEAD_ROWS or width < 2 or not _are_titles(rows[:lead], width):
        lead, width = 0, len(rows[0])
    while lead < min(len(rows) - 2, MAX_LEAD_ROWS) and _is_padded_title(rows[lead], rows[lead + 1]):
        lead += 1
    share = sum(len(row) == width for row in rows[lead:]) / len(rows[lead:])
    return _Layout(delimiter, rows, width, share, lead, tuple(ends))


def _are_titles(rows: Sequence[Sequence[str]], width: int) -> bool:
    """Test whether rows before the first one of the table's width are titles, or names with their values."""
    if all(len(row) <= 1 or not all(row) for row in rows):
        return True
    # A header that lacks the name of the first column is one field shorter than the rows.
    is_headless = len(rows) == 1 and len(rows[0]) == width - 1
    return width > MAX_TITLE_FIELDS and all(len(row) <= MAX_TITLE_FIELDS for row in rows) and not is_headless


def _is_padded_title(row: Sequence[str], following: Sequence[str]) -> bool:
    """Test for a title or an empty line of a spreadsheet, filled with empty fields up to the table's width."""
    filled = [cell.strip() for cell in row if cell.strip()]
    is_padded = len(row) > MAX_TITLE_FIELDS and len(filled) <= 1 and len(following) == len(row)
    return is_padded and not any(_is_measure(cell) for cell in filled)


def _merit(layout: _Layout) -> tuple[float, ...]:
    """Sort key of layouts: consistent width, several fields and a likely mark are better."""
    likely = layout.delimiter in _LIKELY
    several = layout.width > 1
    consistent = several and layout.share >= _CONSISTENT
    return (
        consistent and not layout.lead and likely,
        consistent and not layout.lead,
        consistent and likely,
        consistent,
        several and likely,
        -layout.lead,
        round(layout.share, 2),
        -(_LIKELY + _RARE).find(layout.delimiter) if likely or not several else layout.width,
    )


def _is_header(rows: Sequence[Sequence[str]]) -> bool:
    """Test whether the first row names the columns: it has no value that could be data."""
    first = [cell.strip() for cell in rows[0]]
    if all(cell in NULL_TOKENS for cell in first):
        return False
    if any(_is_measure(cell) for cell in first):
        # Years and dates may be names of columns (`name,2019,2020`) beside names of text.
        return _only_years_are_measures(first) or _only_dates_are_measures(first, rows[1:])
    return True


def _is_measure(cell: str) -> bool:
    return any(rule.accepts(cell) for rule in TYPE_RULES)


def _only_years_are_measures(cells: Sequence[str]) -> bool:
    measures = [cell for cell in cells if _is_measure(cell)]
    years = all(INTEGER.accepts(cell) and 1800 <= int(cell) <= 2200 for cell in measures)
    return years and len(measures) < len(cells) and len(set(measures)) == len(measures) > 1


def _only_dates_are_measures(cells: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Test for a column for each day or month, named by it, above other values."""
    places = [place for place, cell in enumerate(cells) if _is_measure(cell)]
    dates = {cells[place] for place in places}
    if not MIN_DATED_COLUMNS <= len(places) < len(cells) or len(dates) < len(places):
        return False
    values = [row[place].strip() for row in below for place in places if place < len(row)]
    return all(map(_is_date, dates)) and bool(values) and not any(map(_is_date, values))


def _is_date(cell: str) -> bool:
    is_month = re.fullmatch(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])", cell) is not None
    return is_month or any(rule.accepts(cell) for rule in DATE_RULES)
