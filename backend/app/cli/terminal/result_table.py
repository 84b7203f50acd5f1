"""The first rows of a table, as the terminal shows them after a turn, a session, a job or a workflow's run."""

import math
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from app.cli.terminal.sanitize import plain
from app.reporting.first_days import FIRST_DAYS, MIDNIGHT

MAX_SHOWN_ROWS = 30
"""Rows of a table that leave the answer on the screen."""
MAX_CELL_CHARS = 60
"""Characters of a cell, so that a row fits a wide terminal."""
NUMBERS = ("integer", "number")
"""Types of columns whose cells are aligned at the right."""


def show_rows(
    columns: Iterable[tuple[str, str]],
    rows: Sequence[Sequence[Any]],
    console: Console,
    shares: Collection[str] = (),
) -> None:
    """Print the first MAX_SHOWN_ROWS rows. `columns`: name and type of each; of those in `shares` the cells are
    fractions of 1, shown as percentages."""
    table, cells = Table(box=None, pad_edge=False, padding=(0, 1)), []
    for place, (name, kind) in enumerate(columns):
        table.add_column(plain(name), justify="right" if kind in NUMBERS else "left")
        column = [row[place] for row in rows[:MAX_SHOWN_ROWS]]
        cells.append([format_cell(cell, is_share=name in shares) for cell in shorten_times(name, column)])
    for row_cells in zip(*cells, strict=True):
        table.add_row(*map(plain, row_cells))
    console.print(table)


_LENGTHS = {"year": len("2025"), "month": len("2025-01")}


def shorten_times(name: str, cells: Sequence[Any]) -> list[Any]:
    """Leave out of ISO times what is the same in a whole column: midnight, and the first day of months,
    quarters and years in a column of that name."""
    texts = [cell for cell in cells if cell is not None]
    # Of whole columns only: a midnight among other times is a time of day like them.
    if not texts or not all(isinstance(text, str) and text.endswith(MIDNIGHT) for text in texts):
        return [*cells]
    days = [cell and cell.removesuffix(MIDNIGHT) for cell in cells]
    first_day = FIRST_DAYS.get(name)
    if first_day is None or not all(day.endswith(first_day) for day in days if day):
        return days
    if name == "quarter":
        return [day and f"{day[:4]} Q{(int(day[5:7]) + 2) // 3}" for day in days]
    return [day and day[: _LENGTHS[name]] for day in days]


def show_row_count(row_count: int, console: Console) -> None:
    """Say how many rows there are, if not all of them are shown."""
    if row_count > MAX_SHOWN_ROWS:
        console.print(f"[dim]... of {row_count:,} rows[/]")


def format_cell(cell: Any, *, is_share: bool = False) -> str:
    """Return a cell in at most MAX_CELL_CHARS characters; a missing one is `-`."""
    if cell is None:
        return "-"
    if is_share and isinstance(cell, int | float):
        return f"{100 * cell:.1f} %"
    text = format_number(cell) if isinstance(cell, float) else str(cell)
    return text if len(text) <= MAX_CELL_CHARS else text[: MAX_CELL_CHARS - 1] + "…"


_PLAIN_RANGE = (1e-4, 1e15)
"""Sizes of numbers that are written without an exponent: a float has about 15 digits."""
_DIGITS = 6
"""Digits of a number that is not whole, as far as these say anything."""
_DECIMALS = 2
"""Decimals of large numbers: amounts of money keep their cents."""


def format_number(value: float, *, is_grouped: bool = False) -> str:
    """Return a number with six digits or more. `is_grouped`: with commas between thousands."""
    size = abs(value)
    if size and not _PLAIN_RANGE[0] <= size < _PLAIN_RANGE[1]:  # and what is no number
        return f"{value:.{_DIGITS}g}"
    whole_digits = math.floor(math.log10(size)) + 1 if size else 1
    text = f"{value:{',' if is_grouped else ''}.{max(_DIGITS - whole_digits, _DECIMALS)}f}"
    return text.rstrip("0").rstrip(".")
