"""The first rows of a table, as the terminal shows them after a turn, a session, a job or a workflow's run."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from app.cli.terminal.sanitize import plain

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
    table, names = Table(box=None, pad_edge=False, padding=(0, 2)), []
    for name, kind in columns:
        names.append(name)
        table.add_column(plain(name), justify="right" if kind in NUMBERS else "left")
    for row in rows[:MAX_SHOWN_ROWS]:
        cells = zip(row, names, strict=True)
        table.add_row(*(plain(format_cell(cell, is_share=name in shares)) for cell, name in cells))
    console.print(table)


def show_row_count(row_count: int, console: Console) -> None:
    """Say how many rows there are, if not all of them are shown."""
    if row_count > MAX_SHOWN_ROWS:
        console.print(f"[dim]... of {row_count:,} rows[/]")


def format_cell(cell: Any, *, is_share: bool = False) -> str:
    """Return a cell in six digits or MAX_CELL_CHARS characters; a missing one is `-`."""
    if cell is None:
        return "-"
    if is_share and isinstance(cell, int | float):
        return f"{100 * cell:.1f} %"
    text = f"{cell:.6g}" if isinstance(cell, float) else str(cell)
    return text if len(text) <= MAX_CELL_CHARS else text[: MAX_CELL_CHARS - 1] + "…"
