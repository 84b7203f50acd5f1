"""Figures of a forecast: known values, forecasts with intervals, and the error by step."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from app.reporting.figure_data import ForecastPanel, LabelledLine
from app.reporting.figures import style
from app.reporting.figures.series import format_date_axis, to_days
from app.reporting.figures.style import BLUE, INK, LINES, MUTED, ORANGE, SERIES

_MAX_MARKED_FORECASTS = 40
"""Up to this number, each forecast has a marker; more of them would merge."""


def forecast(panels: Sequence[ForecastPanel], target: str) -> Figure:
    """A panel per series."""
    height = 3.6 if len(panels) == 1 else 1.2 + 2.1 * len(panels)
    figure = style.canvas(7.8, height)
    bounded = panels[0].low is not None
    note = "known values and forecasts" + (" with their interval" if bounded else "")
    style.headline(figure, "Forecast", f"{style.label(target)}: {note}")
    grid = figure.subplots(len(panels), 1, squeeze=False)
    for axes, panel in zip((row[0] for row in grid), panels, strict=True):
        _panel(axes, panel)
        axes.set_ylabel(style.label(target if panel.label is None else panel.label))
    style.legend_above(grid[0][0])
    return figure


def _panel(axes: Axes, panel: ForecastPanel) -> None:
    moments, values = to_days(panel.times), style.finite(panel.values)
    ahead, expected = to_days(panel.ahead), style.finite(panel.predictions)
    marker = "o" if len(ahead) <= _MAX_MARKED_FORECASTS else ""
    axes.plot(moments, values, color=INK, linewidth=1.1, label="known")
    if panel.low is not None and panel.high is not None:
        low, high = style.finite(panel.low), style.finite(panel.high)
        axes.fill_between(ahead, low, high, color=ORANGE, alpha=0.28, linewidth=0, label="interval")
    axes.plot(ahead, expected, color=BLUE, linewidth=1.5, marker=marker, markersize=2.6, label="forecast")
    # The last known time: what is right of it is a forecast also where colours are lost in print.
    axes.axvline(moments[-1], color=MUTED, linewidth=0.9, linestyle=(0, (4, 3)))
    format_date_axis(axes)
    style.rows_grid(axes)
    style.plain_ticks(axes, "y")
    axes.margins(x=0.01)


def error_by_step(steps: Sequence[int], lines: Sequence[LabelledLine], metric: str) -> Figure:
    """`lines`: the model's first; `metric`: as people name it."""
    figure = style.canvas(7.8, 3.4)
    style.headline(figure, "Error by step", f"{metric} on the hold-out by rows ahead")
    axes = figure.subplots()
    for place, line in enumerate(lines):
        axes.plot(
            steps,
            style.finite(line.values),
            color=SERIES[place % 4],
            linestyle=LINES[place % 4],
            linewidth=2.0 if place == 0 else 1.3,
            label=style.label(line.label),
        )
    style.rows_grid(axes)
    style.plain_ticks(axes, "y")
    axes.set_xlabel("Rows ahead")
    axes.set_ylabel(metric)
    style.legend_above(axes)
    return figure
