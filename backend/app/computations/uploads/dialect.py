"""Detection of the dialect of delimited text: delimiter, quote, header and lines before the table. Pure."""

import io
import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from app.computations.uploads.column_names import check_width
from app.computations.uploads.header_rows import is_complete, is_measure, split_header
from app.computations.uploads.table_layout import MAX_LEAD_ROWS, Layout, has_row_names, lay_out, make_reader

_LIKELY = "\t;,|"
_RARE = "^~:\x1f\x1e\x01 "
_CONSISTENT = 0.9
"""Share of rows of equal width from which a delimiter fits: titles and broken lines may be the rest."""
_HEAD = 64 << 10
"""Bytes that are searched for delimiters: a mark that separates fields stands in the first lines."""


@dataclass(frozen=True)
class Dialect:
    """`skip`: lines before the table. `names`: those of the header, or empty strings without one.

    `units`: a row of units below the header. `head_chars`: characters of the file before its first row.
    `labels`: rows below the header that describe its columns. `titles`: filled fields of rows above the table.
    """

    delimiter: str
    quote: str = '"'
    escape: str = '"'
    skip: int = 0
    header: bool = True
    names: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    head_chars: int = 0
    titles: tuple[tuple[str, ...], ...] = ()
    labels: tuple[tuple[str, ...], ...] = ()


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
    best = max((lay_out(sample, mark, quote, escape, is_complete) for mark in marks), key=_merit)
    if has_line:
        check_width(best.width)
    rows = best.rows[best.lead :]
    head_chars = skip_chars + best.chars_before(best.lead)
    dialect = Dialect(
        best.delimiter,
        quote,
        escape,
        text.count("\n", 0, head_chars),
        head_chars=head_chars,
        titles=tuple(tuple(filter(str.strip, row)) for row in best.rows[: best.lead]),
    )
    if not rows:
        return dialect, []
    if has_row_names(rows):
        rows = [["", *rows[0]], *rows[1:]]
    header = split_header(rows)
    comments = _comments(text[:skip_chars])
    if header is None:
        names = _comment_names(comments, best)
        titles = (*((comment,) for comment in (comments[:-1] if names else comments)), *dialect.titles)
        names = names or ("",) * best.width
        return replace(dialect, header=any(names), names=names, titles=titles), rows
    dialect = replace(dialect, titles=(*((comment,) for comment in comments), *dialect.titles))
    head_chars = skip_chars + best.chars_before(best.lead + header.rows)
    return (
        replace(
            dialect,
            names=_without_comment_mark(header.names),
            labels=header.labels,
            units=header.units,
            head_chars=head_chars,
        ),
        rows[header.rows :],
    )


def _comments(preamble: str) -> tuple[str, ...]:
    """Texts of the comments before a table."""
    lines = (line.strip() for line in preamble.splitlines()[:MAX_LEAD_ROWS])
    return tuple(text for line in lines if line.startswith("#") and (text := line.lstrip("# \t")))


def _without_comment_mark(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of a header that begins as a comment, such as `#CHROM`; a column called `#` keeps its name."""
    first = names[0].lstrip("#").strip() if len(names) > 1 else ""
    return (first or names[0], *names[1:])


def _comment_names(comments: Sequence[str], layout: Layout) -> tuple[str, ...]:
    """Names of columns in the last comment above rows without a header, as numpy's `savetxt` writes them."""
    last = comments[-1] if comments else ""
    cells = last.split() if layout.delimiter == " " else last.split(layout.delimiter)
    names = tuple(map(str.strip, cells))
    is_header = len(names) == layout.width > 1 and is_complete(names) and not any(map(is_measure, names))
    return names if is_header else ()


def _ends_a_line(sample: str) -> bool:
    return "\n" in sample or "\r" in sample


def _partial_width(sample: str, marks: Sequence[str], quote: str, escape: str) -> int:
    """Count the fields of a first line that is longer than the sample.

    Without quotes, by the likely mark that splits it most. With quotes, by the one that splits it least: a mark
    inside a long quoted text splits it, but the delimiter does not.
    """
    rows: Iterator[list[str]] = (
        next(make_reader(io.StringIO(sample, newline=""), mark, quote, escape), [])
        for mark in marks
        if mark in _LIKELY
    )
    widths = [len(row) for row in rows if len(row) > 1]
    return (min if quote in sample else max)(widths, default=1)


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


def _merit(layout: Layout) -> tuple[float, ...]:
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
