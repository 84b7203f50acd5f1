"""Figures of the exploratory data analysis, from training rows only."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from app.reporting.figure_data import ColumnDistribution, ColumnGaps, TargetPanel
from app.reporting.figures import style
from app.reporting.figures.style import BLUE, DIVERGING, FAINT, INK, MUTED, ORANGE, SEQUENTIAL

_MAX_COLUMNS = 24
"""Columns of one figure, so that labels stay legible on a page."""
_MAX_PANELS = 9
"""Panels of one figure: three rows of three."""
_MAX_LABELS = 8
"""Categories of one panel; the rest are summed in the last bar."""


def missing_values(rows: int, columns: Sequence[ColumnGaps]) -> Figure:
    """Bars of the columns with gaps; columns without gaps are counted, not drawn."""
    # The most missing first, so that columns beyond the limit are those with the fewest gaps.
    gaps = sorted((c for c in columns if c.missing), key=lambda c: -c.missing)
    drawn_columns = gaps[:_MAX_COLUMNS]
    figure = style.canvas(7.2, 1.35 + 0.3 * max(len(drawn_columns), 2))
    complete = len(columns) - len(gaps)
    note = f"Share of {rows:,} rows without a value; {complete} of {len(columns)} columns are complete"
    if len(gaps) > len(drawn_columns):
        note += f"; {len(gaps) - len(drawn_columns)} more not shown"
    style.headline(figure, "Missing values", note)
    axes = figure.subplots()
    if not drawn_columns:
        axes.text(0.5, 0.5, "No column has a missing value.", ha="center", va="center", color=MUTED)
        axes.set_axis_off()
        return figure
    shares = [c.missing / rows for c in drawn_columns]
    places = range(len(drawn_columns))
    axes.barh(places, [1.0] * len(drawn_columns), color="#f1f4f7", height=0.62)
    axes.barh(places, shares, color=BLUE, height=0.62)
    for place, column, part in zip(places, drawn_columns, shares, strict=True):
        text = f"{_percent(part)}  ({column.missing:,})"
        # Beside a longer bar the text would run off the axes.
        inside = part > 0.72
        axes.text(
            part - 0.01 if inside else part + 0.01,
            place,
            text,
            va="center",
            ha="right" if inside else "left",
            fontsize=8.5,
            color="white" if inside else INK,
        )
    axes.set_yticks(places, [style.label(c.name) for c in drawn_columns], color=INK)
    # Upside down, so that the first column is on top.
    axes.set_ylim(max(len(drawn_columns), 2) - 0.4, -0.6)
    axes.set_xlim(0, 1)
    style.share_ticks(axes, "x")
    style.columns_grid(axes)
    axes.set_xlabel("Rows without a value")
    return figure


def distributions(columns: Sequence[ColumnDistribution], left_out: int = 0) -> Figure:
    """A panel per column.

    `left_out`: number of further columns, less associated with the target.
    """
    drawn_columns = columns[:_MAX_PANELS]
    figure = style.canvas(7.8, 0.75 + 2.05 * -(-len(drawn_columns) // 3))
    more = (
        f"; the first {len(drawn_columns)} of {len(columns)} columns"
        if len(columns) > len(drawn_columns)
        else ""
    )
    if left_out:
        more += (
            f" most associated with the target of {len(columns) + left_out}"
            if more
            else f"; {left_out} more not shown"
        )
    style.headline(figure, "Distributions", f"Rows per value or range, training rows only{more}")
    for axes, column in zip(style.panels(figure, len(drawn_columns), 3), drawn_columns, strict=True):
        if column.kind == "numeric":
            _histogram(axes, column)
        else:
            _bars(axes, column)
        axes.set_title(style.label(column.name, 24), loc="left", fontweight="bold")
    return figure


def target_by_feature(value_label: str, panels: Sequence[TargetPanel]) -> Figure:
    """A panel per feature, with one point per group of rows."""
    drawn_panels = panels[:_MAX_PANELS]
    figure = style.canvas(7.8, 0.8 + 2.3 * -(-len(drawn_panels) // 3))
    style.headline(
        figure, "Target by feature", f"{value_label} per group, with its interval; bars: rows per group"
    )
    for axes, panel in zip(style.panels(figure, len(drawn_panels), 3), drawn_panels, strict=True):
        _target_panel(axes, panel)
    return figure


def association(names: Sequence[str], matrix: Sequence[Sequence[float | None]], note: str = "") -> Figure:
    """A square matrix, drawn below its diagonal; from -1 to 1, or from 0 to 1 when nothing is negative."""
    values = np.array([style.finite(row) for row in matrix])[: len(names), : len(names)]
    names, values = names[:_MAX_COLUMNS], values[:_MAX_COLUMNS, :_MAX_COLUMNS]
    size = len(names)
    # nanmin warns and returns NaN where every value is missing.
    signed = bool(np.nanmin(values) < 0) if values.size and not np.isnan(values).all() else False
    # The last column and the first row of a lower triangle are empty: they get no place.
    lower = np.where(np.tril(np.ones((size, size)), -1).astype(bool), values, np.nan)[1:, :-1]
    side = max(0.44 * size, 3.0)
    figure = style.canvas(min(side + 2.3, 9.5), min(side + 1.5, 9.0))
    style.headline(figure, "Association between columns", note or "Strength of the pairwise relation")
    axes = figure.subplots()
    if size < 2:
        axes.text(0.5, 0.5, "Fewer than two columns to compare.", ha="center", va="center", color=MUTED)
        axes.set_axis_off()
        return figure
    image = axes.imshow(
        lower, cmap=DIVERGING if signed else SEQUENTIAL, vmin=-1 if signed else 0, vmax=1, aspect="equal"
    )
    _write_cells(axes, lower, 7.5 if size <= 12 else 5.5)
    axes.set_xticks(
        range(size - 1), [style.label(n, 18) for n in names[:-1]], rotation=40, ha="right", color=INK
    )
    axes.set_yticks(range(size - 1), [style.label(n, 18) for n in names[1:]], color=INK)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    bar = figure.colorbar(image, ax=axes, shrink=0.7, aspect=22, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
    return figure


def _percent(part: float) -> str:
    return "<0.1%" if 0 < part < 0.001 else f"{100 * part:.1f}%"


def _histogram(axes: Axes, column: ColumnDistribution) -> None:
    edges, counts = np.asarray(column.edges, float), np.asarray(column.counts, float)
    axes.bar(
        edges[:-1], counts, width=np.diff(edges), align="edge", color=BLUE, edgecolor="white", linewidth=0.6
    )
    style.rows_grid(axes)
    style.plain_ticks(axes)
    axes.locator_params(axis="x", nbins=5)
    axes.locator_params(axis="y", nbins=4)


def _bars(axes: Axes, column: ColumnDistribution) -> None:
    labels, counts = list(column.labels), list(column.counts)
    if len(labels) > _MAX_LABELS:
        rest = sum(counts[_MAX_LABELS - 1 :])
        labels = [*labels[: _MAX_LABELS - 1], f"{len(labels) - _MAX_LABELS + 1} more"]
        counts = [*counts[: _MAX_LABELS - 1], rest]
    places = range(len(labels))
    axes.barh(places, counts, color=BLUE, height=0.66)
    axes.set_yticks(places, [style.label(text, 12) for text in labels], color=INK)
    axes.set_ylim(max(len(labels), 3) - 0.4, -0.6)
    style.columns_grid(axes)
    style.plain_ticks(axes, "x")
    axes.locator_params(axis="x", nbins=4)


def _target_panel(axes: Axes, panel: TargetPanel) -> None:
    labels = [style.label(text, 11) for text in panel.labels]
    values = style.finite(panel.values)
    places = np.arange(len(labels))
    counts = panel.counts
    if counts:
        rows = axes.twinx()
        rows.bar(places, counts, color="#e9eef3", width=0.78)
        # The bars stay in the lower two fifths, and the points keep the rest.
        rows.set_ylim(0, max(counts) * 2.6 or 1)
        rows.set_axis_off()
        # Twin axes are drawn above the first ones, which must be clear and on top to show their points.
        axes.set_zorder(rows.get_zorder() + 1)
        axes.patch.set_visible(False)
    low, high = panel.low, panel.high
    if low and high:
        axes.vlines(places, style.finite(low), style.finite(high), color=FAINT, linewidth=2.4)
    axes.plot(places, values, "o", color=ORANGE, markeredgecolor=INK, markeredgewidth=0.7, markersize=6)
    turned = max((len(text) for text in labels), default=0) * len(labels) > 24
    axes.set_xticks(places, labels, rotation=35 if turned else 0, ha="right" if turned else "center")
    axes.set_xlim(-0.6, len(labels) - 0.4)
    # Room for the ends of the intervals, which autoscale counts but draws on the very edge.
    axes.margins(y=0.18)
    style.rows_grid(axes)
    style.plain_ticks(axes, "y")
    axes.locator_params(axis="y", nbins=4)
    axes.set_title(style.label(panel.feature, 24), loc="left", fontweight="bold")


def _write_cells(axes: Axes, values: "np.ndarray[Any, Any]", size: float) -> None:
    for (row, column), value in np.ndenumerate(values):
        if not np.isnan(value):
            text = f"{value:.2f}".replace("-", style.MINUS)
            axes.text(
                column, row, text, ha="center", va="center", fontsize=size, color=style.ink_on(abs(value))
            )
