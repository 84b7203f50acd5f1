"""Choice of the sheets of a workbook that are its table: hidden ones, prose and legends are none."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.computations.uploads.number_cells import has_total_word

MAX_JUDGED_SHEETS = 50
"""Sheets that are looked at: each is loaded for it."""
MAX_LEGEND_ROWS = 30
"""Rows of a sheet of words that may describe another one: a longer one is a table of words."""
MIN_TABLE_COLUMNS = 2
"""Columns of a sheet with which it is no prose."""


@dataclass(frozen=True)
class SheetShape:
    """Facts on one sheet. `header`: its first filled row. `cells`: the number of filled ones.

    `is_prose`: most rows have one filled cell. `has_numbers`: a cell is a number, a time or true or false.
    """

    name: str
    header: tuple[str, ...]
    rows: int
    cells: int
    is_prose: bool
    has_numbers: bool

    @property
    def is_legend(self) -> bool:
        """Few rows of words, such as a title page or a list of the columns and their meanings."""
        return self.is_prose or (not self.has_numbers and self.rows <= MAX_LEGEND_ROWS)


def measure_sheet(name: str, rows: Sequence[Sequence[object]], text: Callable[[object], str]) -> SheetShape:
    """Measure a sheet by its rows; `text` writes a cell as CSV has it."""
    filled = [[cell for cell in row if text(cell)] for row in rows]
    filled = [row for row in filled if row]
    header = next((tuple(map(text, row)) for row in rows if any(map(text, row))), ())
    wide = sum(len(row) >= MIN_TABLE_COLUMNS for row in filled)
    numbers = any(not isinstance(cell, str) for row in filled for cell in row)
    return SheetShape(name, header, len(filled), sum(map(len, filled)), 2 * wide < len(filled), numbers)


def choose_sheets(shapes: Sequence[SheetShape]) -> list[str]:
    """Names of the sheets to read, in their order: one, or those with the header of the first of them.

    A total of other sheets is no further part of the table.
    """
    filled = [shape for shape in shapes if shape.cells]
    if not filled:
        return []
    first = filled[0]
    if first.is_legend:
        tables = [
            shape for shape in filled if shape.has_numbers and not shape.is_prose and shape.cells > first.cells
        ]
        first = tables[0] if tables else first
    if len(first.header) < MIN_TABLE_COLUMNS or not all(first.header):
        return [first.name]
    equal = [shape.name for shape in filled if shape.header == first.header]
    parts = [name for name in equal if not has_total_word({0: name})]
    return parts if len(parts) > 1 and first.name in parts else [first.name]
