"""How a text file lays out its table: delimiter, quote, header, where it begins. Pure."""

import csv
import io
import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.computations.uploads.column_types import INTEGER, TYPE_RULES
from app.computations.uploads.names import check_width
from app.modeling.type_inference.vocabulary import NULL_TOKENS

_LIKELY = "\t;,|"
_RARE = "^~:\x1f\x1e\x01 "
_CONSISTENT = 0.9
"""Share of rows of equal width from which a delimiter fits: titles and broken lines may be the rest."""
_HEAD = 64 << 10
"""Bytes that are searched for delimiters: a mark that separates fields stands in the first lines."""
_FIELD_BYTES = 64 << 20


@dataclass(frozen=True)
class Dialect:
    """`skip`: lines before the table. `names` are the header's own, or empty strings when there is none."""

    delimiter: str
    quote: str = '"'
    escape: str = '"'
    skip: int = 0
    header: bool = True
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Layout:
    """A delimiter tried: `width` of most rows, their `share`, and the narrower rows and lines before them."""

    delimiter: str
    rows: list[list[str]]
    width: int
    share: float
    lead: int
    lead_lines: int


def sniff(sample: str, whole: bool, delimiter: str | None = None) -> tuple[Dialect, list[list[str]]]:
    """The dialect of a sample of the file's beginning, and its data rows.

    `whole`: the sample is all of the file; else its last row may be cut and does not count.
    """
    skip, sample, stated = _preamble(sample)
    quote, escape = _quoting(sample)
    delimiter = delimiter or stated
    marks = [delimiter] if delimiter else _marks(sample)
    has_line = whole or _ends_a_line(sample)
    if not has_line:
        check_width(_partial_width(sample, marks, quote, escape), at_least=True)
    best = max((_lay_out(sample, mark, quote, escape, whole) for mark in marks), key=_merit)
    if has_line:
        check_width(best.width)
    rows = best.rows[best.lead :]
    dialect = Dialect(best.delimiter, quote, escape, skip + best.lead_lines)
    if not rows:
        return dialect, []
    header = _is_header(rows)
    names = tuple(rows[0]) if header else ("",) * best.width
    return replace(dialect, header=header, names=names), rows[1:] if header else rows


def _ends_a_line(sample: str) -> bool:
    return "\n" in sample or "\r" in sample


def _partial_width(sample: str, marks: Sequence[str], quote: str, escape: str) -> int:
    """Fields of a first line that is longer than the sample.

    Without quotes, by the likely mark that cuts it most. With quotes, by the one that cuts it least: a mark
    inside a long quoted text cuts it, but the delimiter leaves such a field in one piece.
    """
    rows: Iterator[list[str]] = (
        next(_reader(sample, mark, quote, escape), []) for mark in marks if mark in _LIKELY
    )
    widths = [len(row) for row in rows if len(row) > 1]
    return (min if quote in sample else max)(widths, default=1)


def _reader(sample: str, delimiter: str, quote: str, escape: str) -> Any:
    """A `csv.reader`, which counts its lines."""
    csv.field_size_limit(_FIELD_BYTES)
    return csv.reader(
        io.StringIO(sample, newline=""),
        delimiter=delimiter,
        quotechar=quote,
        doublequote=escape == quote,
        escapechar=None if escape == quote else escape,
    )


def _marks(sample: str) -> list[str]:
    """Delimiters worth a try: those that stand near the beginning, and the tab, for a single column."""
    head = sample[:_HEAD]
    return [mark for mark in (*_LIKELY, *_RARE, *_unusual(head)) if mark in head or mark == "\t"]


def _preamble(sample: str) -> tuple[int, str, str | None]:
    """Lines to skip (Excel's `sep=;`, comments, blank lines), the rest, and a delimiter that was stated."""
    skip, start, stated = 0, 0, None
    # By position: cutting the sample at each of a million blank lines would copy it a million times.
    while start < len(sample):
        end = sample.find("\n", start)
        line = sample[start : len(sample) if end < 0 else end]
        separator = re.fullmatch(r"sep=(.)\r?", line)
        if not (separator or line.startswith(("# ", "##")) or not line.strip(" \r")) or end < 0:
            break
        stated = separator[1] if separator else stated
        skip, start = skip + 1, end + 1
    return skip, sample[start:], stated


def _quoting(sample: str) -> tuple[str, str]:
    if '"' not in sample and re.search(r"(?m)(?:^|[,;\t|])'[^'\n]*'(?:[,;\t|\r]|$)", sample):
        return "'", "'"
    return '"', "\\" if re.search(r'\\"[^,;\t|\r\n]', sample) and '""' not in sample else '"'


def _unusual(sample: str) -> list[str]:
    """Other marks that stand in every line equally often."""
    lines = [line for line in sample.splitlines()[:50] if line]
    taken = set(string.ascii_letters + string.digits + _LIKELY + _RARE + "\"'._-+\r\n\\#/")
    marks = sorted(set(lines[0]) - taken) if len(lines) > 1 else []
    return [mark for mark in marks if mark.isascii() and len({line.count(mark) for line in lines}) == 1]


def _lay_out(sample: str, delimiter: str, quote: str, escape: str, whole: bool) -> _Layout:
    reader = _reader(sample, delimiter, quote, escape)
    lines: list[int] = []
    rows: list[list[str]] = []
    try:
        for row in reader:
            if row:
                rows.append(row)
                lines.append(reader.line_num)
    except csv.Error:
        return _Layout(delimiter, [], 0, 0.0, 0, 0)
    if not whole and len(rows) > 1:
        rows.pop()
    if not rows:
        return _Layout(delimiter, [], 0, 0.0, 0, 0)
    width, _ = max(Counter(map(len, rows)).items(), key=lambda item: (item[1], item[0]))
    lead = next(n for n, row in enumerate(rows) if len(row) == width)
    if lead > 20 or width < 2 or any(len(row) > 1 and all(row) for row in rows[:lead]):
        lead, width = 0, len(rows[0])
    share = sum(len(row) == width for row in rows[lead:]) / len(rows[lead:])
    return _Layout(delimiter, rows, width, share, lead, lines[lead] - 1 if lead else 0)


def _merit(layout: _Layout) -> tuple[float, ...]:
    """Better is larger: rows as wide as the first, of more than one field, by a likelier mark."""
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
    """The first row names the columns: no value that could be data, and no name twice among all-text rows."""
    first = [cell.strip() for cell in rows[0]]
    if all(cell in NULL_TOKENS for cell in first):
        return False
    if any(_is_measure(cell) for cell in first):
        # Years or counts as names (`name,2019,2020`) stand over columns that are named by text too.
        return _only_years_are_measures(first)
    return True


def _is_measure(cell: str) -> bool:
    return any(rule.accepts(cell) for rule in TYPE_RULES)


def _only_years_are_measures(cells: Sequence[str]) -> bool:
    measures = [cell for cell in cells if _is_measure(cell)]
    years = all(INTEGER.accepts(cell) and 1800 <= int(cell) <= 2200 for cell in measures)
    return years and len(measures) < len(cells) and len(set(measures)) == len(measures) > 1
