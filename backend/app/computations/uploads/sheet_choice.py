"""Choice of the sheets of a workbook that are its table: hidden ones, prose and legends are none."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.computations.uploads.number_cells import has_total_word

MAX_JUDGED_SHEETS = 1_000
"""Sheets that are looked at: each is loaded for it. A table of days has a few hundred."""
MAX_TITLE_ROWS = 20
"""Rows above the header of a sheet: titles, dates and blank rows."""
MAX_LEGEND_ROWS = 30
"""Rows of a sheet of words that may describe another one: a longer one is a table of words."""
MIN_TABLE_COLUMNS = 2
"""Columns of a sheet with which it is no prose."""


@dataclass(frozen=True)
class SheetShape:
    """Facts on one sheet. `header`: its first row of several filled cells, below `lead` rows of fewer, of
    which `title` is the first. `cells`: the number of filled ones.

    `is_prose`: most rows have one filled cell. `has_numbers`: a cell is a number, a time or true or false.
    """

    name: str
    header: tuple[str, ...]
    rows: int
    cells: int
    is_prose: bool
    has_numbers: bool
    lead: int = 0
    title: str = ""

    @property
    def is_legend(self) -> bool:
        """Few rows of words, such as a title page or a list of the columns and their meanings."""
        return self.is_prose or (not self.has_numbers and self.rows <= MAX_LEGEND_ROWS)


def measure_sheet(name: str, rows: Sequence[Sequence[object]], text: Callable[[object], str]) -> SheetShape:
    """Measure a sheet by its rows; `text` writes a cell as CSV has it."""
    filled = [[cell for cell in row if text(cell)] for row in rows]
    filled = [row for row in filled if row]
    lines = [tuple(map(text, row)) for row in rows]
    lines = lines[next((place for place, line in enumerate(lines) if any(line)), 0) :]
    widths = [sum(map(bool, line)) for line in lines[: MAX_TITLE_ROWS + 1]]
    lead = next((place for place, width in enumerate(widths) if width >= MIN_TABLE_COLUMNS), 0)
    header = lines[lead] if lines else ()
    title = next((cell for cell in lines[0] if cell), "") if lead else ""
    wide = sum(len(row) >= MIN_TABLE_COLUMNS for row in filled)
    numbers = any(not isinstance(cell, str) for row in filled for cell in row)
    cells = sum(map(len, filled))
    return SheetShape(name, header, len(filled), cells, 2 * wide < len(filled), numbers, lead, title)


def choose_sheets(shapes: Sequence[SheetShape]) -> list[SheetShape]:
    """The sheets to read, in their order: one, or those with the header of the first of them.

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
        return [first]
    equal = [shape for shape in filled if shape.header == first.header]
    parts = [shape for shape in equal if not has_total_word({0: shape.name})]
    return parts if len(parts) > 1 and first in parts else [first]
