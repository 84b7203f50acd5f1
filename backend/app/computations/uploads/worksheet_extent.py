"""The rectangle that the cells of a worksheet span, measured in its XML.

The reader of workbooks allocates the complete rectangle: two cells in opposite corners exhaust its memory.
"""

import re

from app.errors import TooLarge

MAX_CELLS = 20_000_000
"""Cells of the rectangle: the reader takes 32 bytes for each, and a sandbox cell has a gigabyte."""
MAX_ALL_CELLS = 2 * MAX_CELLS
"""Cells of the rectangles of all sheets: to judge and to write a million takes 0.1 s."""
# As XML allows it: quotes of both kinds, and spaces around the sign, bounded so that a run is read once.
_REFERENCE = re.compile(rb"""\br\s{0,8}=\s{0,8}["']([A-Za-z]*)(\d+)["']""")
_OVERLAP_BYTES = 64
"""Bytes of a piece that are scanned again with the next one, for references across the border."""


class Extent:
    """Extent of one worksheet; `feed` it with pieces in order. Raises TooLarge for cells too far apart."""

    def __init__(self) -> None:
        self._rest = b""
        self._names: set[bytes] = set()
        self._first: int | None = None
        self._last = 0
        self._first_column = self._last_column = 0

    def feed(self, piece: bytes) -> None:
        text = self._rest + piece
        references = _REFERENCE.findall(text)
        self._rest = text[-_OVERLAP_BYTES:]
        if not references:
            return
        names, numbers = zip(*references, strict=True)
        # Cut off: int() takes quadratic time, and a file may hold a number of a million digits.
        rows = {int(number[:20]) for number in set(numbers)}
        self._first = min(rows) if self._first is None else min(self._first, *rows)
        self._last = max(self._last, *rows)
        for name in set(names) - self._names - {b""}:
            column = _column(name)
            self._first_column = min(self._first_column or column, column)
            self._last_column = max(self._last_column, column)
        self._names |= set(names)
        self._check()

    @property
    def _size(self) -> tuple[int, int]:
        """Rows and columns of the rectangle."""
        height = self._last - (self._first or 0) + 1
        return height, self._last_column - self._first_column + 1

    @property
    def cells(self) -> int:
        """Cells of the rectangle, empty ones included; 0 for a part that has none."""
        height, width = self._size
        return height * width if self._first is not None else 0

    def _check(self) -> None:
        height, width = self._size
        if height * width > MAX_CELLS:
            raise TooLarge(
                "too_many_cells",
                f"The cells of a sheet span {height:,} rows and {width:,} columns; at most {MAX_CELLS:,} cells"
                " are read, empty ones included. Delete stray cells far from the table, or send it as CSV.",
                limit=MAX_CELLS,
            )


def check_all_cells(cells: int) -> None:
    """Raise TooLarge where the rectangles of all sheets have too many cells together."""
    if cells > MAX_ALL_CELLS:
        raise TooLarge(
            "too_many_cells",
            f"The sheets of the workbook span {cells:,} cells together; at most {MAX_ALL_CELLS:,} are read,"
            " empty ones included. Delete stray cells far from the tables, or send one sheet as CSV.",
            limit=MAX_ALL_CELLS,
        )


def _column(name: bytes) -> int:
    """Number of a column: 1 for A, 27 for AA."""
    number = 0
    for letter in name[:12].upper():
        number = number * 26 + letter - 64
    return number
