"""Rows of a delimited file that are no rows of its table: units below the header, totals and notes below it."""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.computations.uploads.number_cells import CellNumbers, GroupSums
from app.modeling.type_inference.number_spellings import NUMBER_PATTERN
from app.modeling.type_inference.units import is_unit_word
from app.modeling.type_inference.vocabulary import is_missing_word

TAIL_BYTES = 64 << 10
"""Bytes at the end of a file that are searched: notes and totals are a few lines."""
MAX_FOOTER_ROWS = 20
"""Rows at the end that are no rows of the table: more are a table of their own."""
MIN_FOOTER_WIDTH = 3
"""Columns of tables that have notes below: in narrower ones a short row may be a row."""
MAX_NOTE_FIELDS_SHARE = 0.34
"""Share of the fields of a row that a note fills, which is split at its own commas."""
MAX_SHOWN_CHARS = 60
"""Characters of the footer that its note shows: enough to tell a total from a source."""
_TOTAL = re.compile(
    r"(?:grand |sub-?|overall )?(?:total(?:s|e|es)?|totaal|summe|gesamtsumme|gesamt|insgesamt|somme|suma|soma)"
    r"(?:\b[^\d]{0,30})?:?",
    re.IGNORECASE,
)
_NOTE = re.compile(
    r"(?:sources?|notes?|quelle|anmerkung|hinweis|remarque|fuente|nota|footnote|legend|generated|exported|stand"
    r"|\*|\u2020|\(?\d\)|\[\w{1,3}\]|\w{1,2} ?[=:])",
    re.IGNORECASE,
)
_NUMBER = re.compile(NUMBER_PATTERN, re.ASCII)


def is_unit_row(row: Sequence[str], following: Sequence[Sequence[str]]) -> bool:
    """Test for a row of units below the header, above columns of numbers."""
    units = {n: cell.strip().casefold() for n, cell in enumerate(row) if cell.strip()}
    if not any(is_unit_word(unit) for unit in units.values()) or any(map(_NUMBER.match, units.values())):
        return False
    cells = [cells[n].strip() for cells in following[:MAX_FOOTER_ROWS] for n in units if n < len(cells)]
    present = [cell for cell in cells if not is_missing_word(cell)]
    # In a column of currency codes or units the cells below are words too.
    return bool(present) and sum(_NUMBER.match(cell) is not None for cell in present) >= 0.9 * len(present)


@dataclass(frozen=True)
class Footer:
    """Lines at the end of a file that are no rows.

    `rows`: their number. `size_bytes`: of the file without them. `note`: for the user.
    """

    rows: int
    size_bytes: int
    note: str


def find_footer(
    path: Path, delimiter: str, quote: str, rows: Sequence[Sequence[str]], *, is_complete: bool
) -> Footer | None:
    """Find totals and notes at the end of a file of which the first `rows` are known, if there are any.

    `is_complete`: they are all rows, of which `side_rows` compares a total with its parts.
    """
    width = len(rows[0])
    if width < MIN_FOOTER_WIDTH:
        return None
    size_bytes = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(0, size_bytes - TAIL_BYTES))
        tail = file.read()
    if size_bytes > TAIL_BYTES:
        tail = tail[tail.find(b"\n") + 1 :]
    # The tail may begin in the middle of a character.
    reader = csv.reader(
        io.StringIO(tail.decode(errors="ignore"), newline=""), delimiter=delimiter, quotechar=quote
    )
    try:
        ends = [(row, reader.line_num) for row in reader if row]
    except csv.Error:
        return None
    # Rows that are certainly no footer: a word that stands among them is a value.
    body = rows[: min(10 * MAX_FOOTER_ROWS, max(1, len(rows) // 2))]
    count = 0

    def is_side_row(row: Sequence[str]) -> bool:
        return _is_side_row(row, width, body) or (not is_complete and _is_total(row, body))

    while count < min(MAX_FOOTER_ROWS, len(ends) - 2) and is_side_row(ends[-1 - count][0]):
        count += 1
    if not count:
        return None
    lines = tail.splitlines(keepends=True)
    kept_bytes = len(b"".join(lines[: ends[-1 - count][1]]))
    first = delimiter.join(cell for cell in ends[-count][0] if cell.strip())[:MAX_SHOWN_CHARS]
    what = "The last line is no row" if count == 1 else f"The last {count} lines are no rows"
    preview = f" ({first!r})" if first else ""
    return Footer(count, size_bytes - len(tail) + kept_bytes, f"{what}{preview}; left out.")


def _is_side_row(row: Sequence[str], width: int, body: Sequence[Sequence[str]]) -> bool:
    filled = {n: cell.strip() for n, cell in enumerate(row) if cell.strip()}
    if not filled:
        return True
    place, first = next(iter(filled.items()))
    column = [cells[place].strip() for cells in body if place < len(cells)]
    if first in column:
        return False
    if place == 0 and len(row) < width and _NOTE.match(first):
        return True  # a note with commas of its own
    if len(row) > width or len(filled) > max(1, width * MAX_NOTE_FIELDS_SHARE) or place:
        return False
    if len(row) == 1 and width >= MIN_FOOTER_WIDTH:
        return _NUMBER.match(first) is None
    return _NOTE.match(first) is not None


def _is_total(row: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Test for the word for a total and a number that is larger than the sum of a column of the first rows."""
    first = next((cell.strip() for cell in row if cell.strip()), "")
    if not _TOTAL.fullmatch(first) or any(first in map(str.strip, cells) for cells in body):
        return False
    numbers = CellNumbers([*body, row])
    return GroupSums(numbers, range(len(body))).is_exceeded(len(body))
