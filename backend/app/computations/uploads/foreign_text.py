"""Texts that are no delimited table, recognised by how they begin: JSON, markup, SQL, fixed-width columns."""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from app.errors import InvalidInput

HEAD_CHARS = 64 << 10
"""Characters of a text by which its kind is recognised."""
MIN_FIXED_LINES = 3
"""Lines of a table of fixed-width columns: its header and two more."""
MIN_FIXED_COLUMNS = 2
"""Columns with which lines of equal fields are a table."""
MIN_ALIGNED_SHARE = 0.5
"""Share of lines with two spaces in a row, which pad a column and seldom stand in texts."""
MAX_FIXED_BYTES = 64 << 20
"""Size of a file of fixed-width columns: it is split line by line in Python, at some 20 MB a second."""
_HTML = re.compile(r"\A\s*+<(?:!doctype html|html|head|body|table)\b", re.IGNORECASE)
_XML = re.compile(r"\A\s*+<(?:\?xml|[a-z][\w:.-]*+[\s>/])", re.IGNORECASE)
_SQL = re.compile(
    r"\A(?:\s|--[^\n]*+\n|/\*(?:[^*]|\*(?!/))*+\*/)*+"
    r"(?:(?:create\s++table|insert\s++into|drop\s++table)\b|copy\s++[^\s(]++\s*+\()",
    re.IGNORECASE,
)
_JSON = re.compile(r"\[\s*+(?:\{\s*+\"|\[)|\{\s*+\"(?:[^\"\\]|\\.)*+\"\s*+:\s*+[\[{]\s*+[\[{\"]")
_MARKUP = (
    (_HTML, "HTML", "Open it in a spreadsheet or a browser, and save its table as CSV or Excel."),
    (_XML, "XML", "Convert its records to CSV or JSON."),
    (_SQL, "SQL", "Run its statements in a database, and export the table as CSV."),
)


def read_head(path: Path) -> str:
    with path.open(encoding="utf-8", newline="") as file:
        return file.read(HEAD_CHARS)


def is_json(head: str, is_named_delimited: bool) -> bool:
    """Test for JSON; under the name of a delimited file, for its first complete value or record."""
    begin = head.lstrip()
    if not begin.startswith(("{", "[")):
        return False
    if not is_named_delimited:
        return True
    if _JSON.match(begin):
        return True
    try:
        value, _ = json.JSONDecoder().raw_decode(begin)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict)


def refuse_markup(head: str) -> None:
    """Raise InvalidInput for HTML, XML and SQL, which a reader of delimited text would take for a table."""
    # `<DATE>,<TIME>` is a header of prices: markup closes what it opens.
    is_closed = "</" in head or head.lstrip().startswith("<?xml")
    for pattern, kind, advice in _MARKUP:
        if pattern.match(head) and (is_closed or kind != "XML"):
            raise InvalidInput("not_a_table", f"The file is {kind}, and no table that can be read. {advice}")


def unwrap_quoted_lines(path: Path, head: str, target: Path) -> Path | None:
    """Write lines that are each one quoted field, a row in itself, as rows; None for other text."""
    lines = head.splitlines()[: MIN_FIXED_LINES * 10]
    complete = lines[:-1] if len(head) == HEAD_CHARS else lines
    if len(complete) < MIN_FIXED_LINES or not all(re.fullmatch(r'"(?:[^"]|"")*+"', line) for line in complete):
        return None
    inner = [row for row in csv.reader(line[1:-1].replace('""', '"') for line in complete) if row]
    if len(inner[0]) < MIN_FIXED_COLUMNS or len({len(row) for row in inner}) > 1 or not _has_marks(complete):
        return None
    with (
        path.open(encoding="utf-8", newline="") as source,
        target.open("w", encoding="utf-8", newline="") as file,
    ):
        for row in csv.reader(source):
            file.write((row[0] if row else "") + "\n")
    return target


def _has_marks(lines: Sequence[str]) -> bool:
    """Test for quotes inside the fields, or marks without a space behind them: texts have commas too."""
    return any('""' in line for line in lines) or not any(", " in line for line in lines)


def split_fixed_width(path: Path, head: str, target: Path) -> Path | None:
    """Write columns that stand below each other, padded with spaces, as CSV; None for other text."""
    lines = [line for line in head.splitlines() if line.strip()]
    lines = lines[:-1] if len(head) == HEAD_CHARS else lines
    if len(lines) < MIN_FIXED_LINES or path.stat().st_size > MAX_FIXED_BYTES or re.search(r"[\t;|]", head):
        return None
    columns = _fixed_columns(lines)
    if len(columns) < MIN_FIXED_COLUMNS:
        return None
    with path.open(encoding="utf-8") as source, target.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(_split_lines(source, columns))
    return target


def _fixed_columns(lines: Sequence[str]) -> list[tuple[int, int | None]]:
    """Places of columns: those between places that are blank in every line."""
    aligned = sum("  " in line.strip() for line in lines)
    is_prose = sum(line.count(", ") for line in lines) >= len(lines)
    if aligned < MIN_ALIGNED_SHARE * len(lines) or is_prose:
        return []
    width = max(map(len, lines))
    blank = [all(place >= len(line) or line[place] == " " for line in lines) for place in range(width)]
    starts = [place for place in range(width) if not blank[place] and (not place or blank[place - 1])]
    # A gap inside a value, as in `Person 1`, has no name of its own above it.
    titled_starts = [start for start in starts if start < len(lines[0]) and lines[0][start] != " "]
    return list(zip(titled_starts, [*titled_starts[1:], None], strict=True))


def _split_lines(lines: Iterator[str], columns: Sequence[tuple[int, int | None]]) -> Iterator[list[str]]:
    for line in lines:
        if line.strip():
            yield [line[start:end].strip() for start, end in columns]
