"""Figures of a backtest: price, position, equity and drawdown."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from app.reporting.figure_data import LabelledLine
from app.reporting.figures import style
from app.reporting.figures.series import format_date_axis, to_days
from app.reporting.figures.style import BLUE, LINES, MUTED, ORANGE, SERIES


def price(times: Sequence[str], values: Sequence[float | None], label: str) -> Figure:
    figure, axes, moments = _canvas(times, "Price", label)
    axes.plot(moments, style.finite(values), color=BLUE, linewidth=1.2)
    axes.set_ylabel(style.label(label))
    return figure


def signal(times: Sequence[str], positions: Sequence[float], low: float, high: float) -> Figure:
    """`positions`: shares of the capital, from short (-1) to long (1); `low`, `high`: the limits."""
    figure, axes, moments = _canvas(times, "Position", "share of the capital held; below zero is short")
    shares = style.finite(positions)
    axes.fill_between(
        moments, shares, 0, where=[share >= 0 for share in shares], color=BLUE, step="post", linewidth=0
    )
    axes.fill_between(
        moments, shares, 0, where=[share < 0 for share in shares], color=ORANGE, step="post", linewidth=0
    )
    # The limits of the strategy, not of the values, so that a position that is never full looks so.
    margin = 0.05 * (high - low)
    axes.set_ylim(low - margin, high + margin)
    axes.axhline(0, color=MUTED, linewidth=0.8)
    axes.set_ylabel("Position")
    return figure


def equity(times: Sequence[str], curves: Sequence[LabelledLine]) -> Figure:
    """`curves`: each starts near 1."""
    figure, axes, moments = _canvas(times, "Equity", "growth of one unit of capital, after costs")
    _lines(axes, moments, curves)
    axes.axhline(1, color=MUTED, linewidth=0.8)
    axes.set_ylabel("Equity")
    return figure


def drawdown(times: Sequence[str], curves: Sequence[LabelledLine]) -> Figure:
    """`curves`: shares at most 0."""
    figure, axes, moments = _canvas(times, "Drawdown", "below the highest point so far")
    _lines(axes, moments, curves)
    style.share_ticks(axes, "y")
    axes.set_ylabel("Drawdown")
    return figure


def _canvas(times: Sequence[str], title: str, note: str) -> tuple[Figure, Axes, list[float]]:
    figure = style.canvas(7.8, 3.2)
    style.headline(figure, title, f"{note}, {times[0][:10]} to {times[-1][:10]}")
    axes = figure.subplots()
    format_date_axis(axes)
    style.rows_grid(axes)
    axes.margins(x=0.01)
    return figure, axes, to_days(times)


def _lines(axes: Axes, moments: list[float], curves: Sequence[LabelledLine]) -> None:
    for place, curve in enumerate(curves):
        axes.plot(
            moments,
            style.finite(curve.values),
            color=SERIES[place % 4],
            linestyle=LINES[place % 4],
            linewidth=1.4,
            label=style.label(curve.label),
        )
    style.legend_above(axes)
