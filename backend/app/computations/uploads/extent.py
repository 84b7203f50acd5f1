"""The rectangle that the cells of a worksheet span, told from its XML while it is measured.

The reader of workbooks takes memory for the whole rectangle: two cells in opposite corners end it.
"""

import re

from app.errors import TooLarge

MAX_CELLS = 20_000_000
"""Of the rectangle; 32 bytes each in the reader, of the gigabyte that a cell has."""
_REFERENCE = re.compile(rb'\br="([A-Za-z]*)(\d+)"')
_OVERLAP_BYTES = 64
"""A reference that is cut by the end of a piece is seen again with the next."""


class Extent:
    """Fed with pieces of one worksheet in order; raises TooLarge when its cells lie too far apart."""

    def __init__(self) -> None:
        self._rest = b""
        self._names: set[bytes] = set()
        self._first: int | None = None
        self._last = 0
        self._left = self._right = 0

    def feed(self, piece: bytes) -> None:
        text = self._rest + piece
        references = _REFERENCE.findall(text)
        self._rest = text[-_OVERLAP_BYTES:]
        if not references:
            return
        names, numbers = zip(*references, strict=True)
        rows = {int(number[:20]) for number in set(numbers)}
        self._first = min(rows) if self._first is None else min(self._first, *rows)
        self._last = max(self._last, *rows)
        for name in set(names) - self._names - {b""}:
            column = _column(name)
            self._left = min(self._left or column, column)
            self._right = max(self._right, column)
        self._names |= set(names)
        self._check()

    def _check(self) -> None:
        height = self._last - (self._first or 0) + 1
        width = self._right - self._left + 1
        if height * width > MAX_CELLS:
            raise TooLarge(
                "too_many_cells",
                f"The cells of a sheet span {height:,} rows and {width:,} columns; at most {MAX_CELLS:,} cells"
                " are read, empty ones included. Delete stray cells far from the table, or send it as CSV.",
                limit=MAX_CELLS,
            )


def _column(name: bytes) -> int:
    """1 for A, 27 for AA."""
    number = 0
    for letter in name[:12].upper():
        number = number * 26 + letter - 64
    return number
