"""The forecast of a result in the terminal: its periods as a table, and a single series as a curve."""

import math
from typing import Any

from rich.console import Console
from rich.table import Table

from app.cli.api_client.responses import Conclusion, ConclusionFigure
from app.cli.terminal.block_charts import draw_blocks
from app.cli.terminal.sanitize import harmless, plain

MIN_TABULATED = 3
"""Forecasts from which they are tabulated: the first sentence states two."""


def show_forecast(conclusion: Conclusion, console: Console) -> None:
    """Print the forecasts by period, of several series in a column each, and the curve of a single one."""
    figures = [figure for figure in conclusion.figures if figure.name == "forecast" and figure.period]
    if len(figures) < MIN_TABULATED:
        return
    series = list(dict.fromkeys(figure.series for figure in figures))
    if len(series) > 1:
        console.print(_tabulate_series(figures, series))
        return
    console.print(_tabulate_periods(figures))
    rows = [[harmless(figure.period or ""), figure.value] for figure in figures]
    curve = draw_blocks("line", [{"type": "datetime"}, {"type": "number"}], rows)
    console.print(f"\n{curve}\n", markup=False, highlight=False)


def _tabulate_periods(figures: list[ConclusionFigure]) -> Table:
    """A row for each period, with the interval in columns of its own."""
    unit = f", {plain(figures[0].unit)}" if figures[0].unit else ""
    table = _make_table(["Period", f"Forecast{unit}", "From", "To"])
    for figure in figures:
        places = decimal_places(figure.high)
        bounds = (format_decimals(bound, places) for bound in (figure.low, figure.high))
        table.add_row(plain(figure.period or ""), plain(figure.text), *bounds)
    return table


def _tabulate_series(figures: list[ConclusionFigure], series: list[str | None]) -> Table:
    """A row for each period and a column for each series, with the interval in brackets."""
    unit = f", {plain(figures[0].unit)}" if figures[0].unit else ""
    table = _make_table(["Period", *(f"{plain(name or '')}{unit}" for name in series)])
    cells = {(figure.period, figure.series): _with_bounds(figure) for figure in figures}
    for period in dict.fromkeys(figure.period for figure in figures):
        table.add_row(plain(period or ""), *(cells.get((period, name), "-") for name in series))
    return table


def _make_table(headings: list[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="right" if place else "left")
    return table


def _with_bounds(figure: ConclusionFigure) -> str:
    if figure.low is None or figure.high is None:
        return plain(figure.text)
    # Three digits, as the forecast itself has.
    places = max(decimal_places(figure.high) - 1, 0)
    low, high = (format_decimals(bound, places) for bound in (figure.low, figure.high))
    return f"{plain(figure.text)} ({low} to {high})"


def decimal_places(score: float | None) -> int:
    """Decimal places that show four digits of a number, or all before its point."""
    return min(max(3 - math.floor(math.log10(abs(score))), 0), 6) if score else 4


def format_decimals(value: Any, places: int) -> str:
    return f"{value:,.{places}f}" if isinstance(value, int | float) else "-"
