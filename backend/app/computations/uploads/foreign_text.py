"""Texts that are no delimited table, recognised by how they begin: JSON, markup, SQL, rows in quotes."""

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path

from app.computations.uploads.table_layout import make_reader
from app.errors import InvalidInput

HEAD_CHARS = 64 << 10
"""Characters of a text by which its kind is recognised."""
MIN_QUOTED_LINES = 3
"""Lines in quotes that are rows: a header and two more."""
MAX_JUDGED_LINES = 30
"""Lines by which quotes are judged to hold rows; the others are checked while they are written."""
MIN_QUOTED_COLUMNS = 2
"""Columns with which lines in quotes are rows."""
_HTML = re.compile(r"\A\s*+<(?:!doctype html|html|head|body|table)\b", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{1,500})", re.IGNORECASE)
MAX_TITLE_CHARS = 80
"""Characters of the title of a web page in a message."""
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
            raise InvalidInput(
                "not_a_table",
                _describe_page(head) or f"The file is {kind}, and no table that can be read. {advice}",
            )


def _describe_page(head: str) -> str:
    """Describe a web page without a table, as sites send it in place of a file; empty for other texts."""
    if not _HTML.match(head) or "<table" in head.lower():
        return ""
    title = _TITLE.search(head)
    heading = f" ({' '.join(title[1].split())[:MAX_TITLE_CHARS]!r})" if title else ""
    return (
        f"The file is a web page{heading}, and not the table: perhaps an error, or a page to sign in. Open its"
        " address in a browser, and download the table there."
    )


def unwrap_quoted_lines(path: Path, head: str, target: Path) -> Path | None:
    """Write lines that are each one quoted field, a row in itself, as rows; None for other text."""
    lines = head.splitlines()[:MAX_JUDGED_LINES]
    complete = lines[:-1] if len(head) == HEAD_CHARS else lines
    if len(complete) < MIN_QUOTED_LINES or not all(re.fullmatch(r'"(?:[^"]|"")*+"', line) for line in complete):
        return None
    inner = [row for row in csv.reader(line[1:-1].replace('""', '"') for line in complete) if row]
    widths = {len(row) for row in inner}
    if len(widths) != 1 or min(widths) < MIN_QUOTED_COLUMNS or not _has_marks(complete):
        return None
    with (
        path.open(encoding="utf-8", newline="") as source,
        target.open("w", encoding="utf-8", newline="") as file,
    ):
        for row in make_reader(source, ",", '"', '"'):
            if len(row) > 1:
                return None  # fields of their own stand in these quotes
            file.write((row[0] if row else "") + "\n")
    return target


def _has_marks(lines: Sequence[str]) -> bool:
    """Test for quotes inside the fields, or marks without a space behind them: texts have commas too."""
    return any('""' in line for line in lines) or not any(", " in line for line in lines)
