"""Figure of values over time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure

from app.reporting.figure_data import LabelledLine
from app.reporting.figures import style
from app.reporting.figures.style import LINES, MUTED, SERIES


def time_series(
    times: Sequence[str], series: Sequence[LabelledLine], split_at: str | None = None, value_label: str = ""
) -> Figure:
    """`times`: ISO 8601; `split_at`: where the hold-out begins."""
    moments = to_days(times)
    figure = style.canvas(7.8, 3.9)
    span = f"{times[0][:10]} to {times[-1][:10]}"
    style.headline(figure, "Over time", f"{style.label(value_label or 'value')}, {span}")
    axes = figure.subplots()
    for place, line in enumerate(series):
        axes.plot(
            moments,
            style.finite(line.values),
            color=SERIES[place % 4],
            linestyle=LINES[place % 4],
            linewidth=1.5,
            label=style.label(line.label),
        )
    if split_at:
        _mark_split(axes, _day(split_at), moments[-1])
    format_date_axis(axes)
    style.rows_grid(axes)
    style.plain_ticks(axes, "y")
    axes.margins(x=0.01)
    axes.set_ylabel(style.label(value_label) if value_label else "Value")
    if len(series) > 1:
        style.legend_above(axes)
    return figure


def format_date_axis(axes: Axes) -> None:
    """Format the horizontal axis as concise dates."""
    axes.xaxis_date()
    locator: Any = AutoDateLocator(maxticks=8)  # type: ignore[no-untyped-call]  # untyped in matplotlib
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]  # likewise


def to_days(times: Sequence[str]) -> list[float]:
    return [_day(moment) for moment in times]


def _mark_split(axes: Axes, start: float, end: float) -> None:
    axes.axvspan(start, end, color="#f1f4f7", zorder=0, linewidth=0)
    axes.axvline(start, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
    axes.annotate(
        "hold-out",
        (start, 1),
        xycoords=("data", "axes fraction"),
        xytext=(5, -4),
        textcoords="offset points",
        va="top",
        fontsize=8.5,
        color=MUTED,
    )


def _day(moment: str) -> float:
    """Days since the epoch: matplotlib's unit of time."""
    return float(np.datetime64(moment, "ms").astype("int64")) / 86_400_000
