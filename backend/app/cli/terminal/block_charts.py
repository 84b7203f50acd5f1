"""Charts of the terminal, drawn with blocks of Unicode from the rows of an answer."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from app.cli.terminal.result_table import NUMBERS, format_cell, format_number

WIDTH = 48
"""Characters of the longest bar: with its label and number it fits 80 columns."""
HEIGHT = 12
"""Lines of a curve, half of a small terminal."""
MAX_BARS = 30
"""Bars, as many as a drawn chart has."""
MAX_LABEL_CHARS = 20
"""Characters of a label before a bar."""
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_LEVELS = " ▁▂▃▄▅▆▇█"
_SHADES = "░▒▓█"
Columns = Sequence[Mapping[str, Any]]
Rows = Sequence[Sequence[Any]]
_WriteNumber = Callable[[float], str]


def draw_blocks(kind: str, columns: Columns, rows: Rows, *, is_share: bool = False) -> str:
    """Draw the rows of a chart as text; empty for kinds that a terminal shows better as a table.

    `is_share`: the numbers are fractions of 1, written as percentages as in the table above.
    """
    if not rows:
        return ""
    write = partial(format_cell, is_share=True) if is_share else partial(format_number, is_grouped=True)
    numbers = [n for n, column in enumerate(columns) if column["type"] in NUMBERS]
    labels = [n for n, column in enumerate(columns) if column["type"] not in NUMBERS]
    if kind == "histogram" and len(rows[0]) == 3:
        return _draw_bars([(f"{low:g} to {high:g}", count) for low, high, count in rows], write)
    if kind in ("bar", "histogram") and len(columns) == 2 and numbers:
        value = numbers[-1]
        return _draw_bars([(_label(row[1 - value]), row[value]) for row in rows], write)
    if kind in ("line", "area") and numbers and len(labels) == 1:
        # Of a measure with its moving average, the average is the curve that is read.
        return _draw_curve([(_label(row[labels[0]]), row[numbers[-1]]) for row in rows], write)
    if kind == "heatmap" and [column["name"] for column in columns][:3] == ["first", "second", "correlation"]:
        return _draw_matrix([(str(first), str(second), value) for first, second, value, *_ in rows])
    return ""


def _draw_bars(bars: Sequence[tuple[str, float | None]], write: _WriteNumber) -> str:
    first_bars = bars[:MAX_BARS]
    longest = max(len(label) for label, _ in first_bars)
    # Bars are lengths, as a terminal has no room for a zero in the middle; a sign tells negative ones.
    top = max((abs(value) for _, value in first_bars if value is not None), default=0) or 1
    lines = []
    for label, value in first_bars:
        number = "-" if value is None else write(value)
        sign = "-" if value is not None and value < 0 else ""
        lines.append(f"{label:>{longest}} │{sign}{_bar(abs(value or 0) / top)} {number}")
    if len(bars) > MAX_BARS:
        lines.append(f"... and {len(bars) - MAX_BARS:,} more")
    return "\n".join(lines)


def _bar(share: float) -> str:
    eighths = round(share * WIDTH * 8)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _draw_curve(points: Sequence[tuple[str, float | None]], write: _WriteNumber) -> str:
    """A block for each point, or for the mean of neighbours where there are more than fit.

    Points have no bars below them: the axis begins at the lowest of them, so that a bar would have no length.
    """
    defined = [(label, value) for label, value in points if value is not None]
    if not defined:
        return ""
    size = math.ceil(len(defined) / WIDTH)
    groups = [defined[start : start + size] for start in range(0, len(defined), size)]
    # Means of neighbours, since taking every n-th point would hide or invent peaks.
    means = [sum(value for _, value in group) / len(group) for group in groups]
    low, high = min(means), max(means)
    # A series whose numbers are written alike is drawn as a line at the bottom: it does not move.
    is_flat = write(low) == write(high)
    span = math.inf if is_flat else high - low
    # In eighths of a line, and 1 at least: the lowest point would otherwise look like a missing one.
    heights = [1 + round((mean - low) / span * (HEIGHT * 8 - 1)) for mean in means]
    ends = {HEIGHT - 1: write(high), 0: write(low)}
    edge = max(map(len, ends.values()))
    lines = []
    for line in range(HEIGHT - 1, -1, -1):
        cells = "".join(_LEVELS[place] if 0 < (place := height - line * 8) <= 8 else " " for height in heights)
        lines.append(f"{ends.get(line, ''):>{edge}} │{cells}")
    first, last = defined[0][0], defined[-1][0]
    gap = max(len(groups) - len(first) - len(last), 1)
    return "\n".join([*lines, f"{'':>{edge}}  {first}{' ' * gap}{last}"])


def _draw_matrix(pairs: Sequence[tuple[str, str, float | None]]) -> str:
    """Correlations with a shade for their strength."""
    names = list(dict.fromkeys([*(first for first, _, _ in pairs), *(second for _, second, _ in pairs)]))
    of = {(first, second): value for first, second, value in pairs}
    labels = {name: _label(name) for name in names}
    longest = max(map(len, labels.values()))
    lines = [f"{'':>{longest}}  " + " ".join(f"{n:>6}" for n in range(1, len(names) + 1))]
    for place, name in enumerate(names, 1):
        cells = [
            "  1.00" if other == name else _shade(of.get((name, other), of.get((other, name))))
            for other in names
        ]
        lines.append(f"{labels[name]:>{longest}} {place:<2}" + " ".join(cells))
    return "\n".join(lines)


def _shade(value: float | None) -> str:
    if value is None:
        return "     -"
    return f"{_SHADES[min(int(abs(value) * 4), 3)]}{value:>5.2f}"


def _label(cell: Any) -> str:
    text = "-" if cell is None else str(cell).removesuffix("T00:00:00")
    return text if len(text) <= MAX_LABEL_CHARS else text[: MAX_LABEL_CHARS - 1] + "…"
