"""Figures of the explanation: importance, dependence, SHAP values and error segments."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from app.reporting.figure_data import DependencePanel, FeatureContribution, ImportanceEntry, SegmentRow
from app.reporting.figures import style
from app.reporting.figures.style import BLUE, FAINT, INK, LINES, MUTED, ORANGE, SERIES

_MAX_BARS = 20
"""Bars of the importance figure, so that it fits a page."""
_BAND = "#dbe6f1"
_DENSITY = "#e9eef3"
_CODE = "#7d8894"


def importances(metric: str, features: Sequence[ImportanceEntry]) -> Figure:
    """Bars of the metric's loss when a column is shuffled, largest first."""
    ranked = sorted(features, key=lambda f: -f.mean)[:_MAX_BARS]
    figure = style.canvas(7.2, 1.45 + 0.3 * max(len(ranked), 1))
    more = f"; top {len(ranked)} of {len(features)}" if len(features) > len(ranked) else ""
    style.headline(
        figure,
        "Permutation importance",
        f"Worsening of {metric} when the column is shuffled; line: one standard error{more}",
    )
    axes = figure.subplots()
    places = range(len(ranked))
    means, spread = [f.mean for f in ranked], [f.std for f in ranked]
    colours = [BLUE if f.helps else FAINT for f in ranked]
    axes.barh(places, means, color=colours, height=0.64)
    axes.hlines(places, np.subtract(means, spread), np.add(means, spread), color=INK, linewidth=1.2)
    axes.axvline(0, color=MUTED, linewidth=1)
    _name_rows(axes, [f.column for f in ranked])
    axes.set_xlabel(f"Worsening of {metric}")
    return figure


def dependence(answer: str, panels: Sequence[DependencePanel]) -> Figure:
    """A panel per column; all share the scale of the answer, so that they compare."""
    columns = min(len(panels), 3)
    figure = style.canvas(2.6 * columns + 0.1 if columns > 1 else 3.9, 0.75 + 2.3 * -(-len(panels) // 3))
    style.headline(
        figure, "Partial dependence", style.label(answer, 88 if columns > 2 else 60 if columns > 1 else 40)
    )
    grid = style.panels(figure, len(panels), 3)
    for axes, panel in zip(grid, panels, strict=True):
        _curve(axes, panel)
    _share_scale(grid, panels)
    if any(len(panel.lines) > 1 for panel in panels):
        grid[0].legend(loc="best", fontsize=7.5)
    return figure


def contributions(
    features: Sequence[FeatureContribution],
    values: Sequence[Any],
    numbers: Sequence[Any],
    member: str,
    answer: str,
) -> Figure:
    """A strip of dots a feature: what it added to the `answer` in each row, light where it is low, dark where
    it is high."""
    added, feature_values = np.asarray(values, float), np.asarray(numbers, float)
    figure = style.canvas(7.2, 1.5 + 0.36 * len(features))
    style.headline(
        figure,
        "Feature contributions",
        f"SHAP values of {style.label(member)}, {len(added):,} hold-out rows; light: low, dark: high, "
        "grey: no order; right: mean magnitude",
    )
    axes = figure.subplots()
    axes.axvline(0, color=MUTED, linewidth=1)
    for place in range(len(features)):
        axes.scatter(
            added[:, place],
            place + _swarm(added[:, place]),
            c=_shades(feature_values[:, place]),
            s=7,
            edgecolor="none",
            # Thousands of dots as vectors would make files of megabytes.
            rasterized=True,
        )
    _name_rows(axes, [feature.feature for feature in features])
    axes.set_xlabel(style.label(f"Added to {answer}", 70))
    sizes = axes.secondary_yaxis("right")
    sizes.set_yticks(range(len(features)), [f"{feature.mean:.3g}" for feature in features])
    sizes.spines["right"].set_visible(False)
    sizes.tick_params(length=0, labelcolor=INK)
    return figure


def segments(measure: str, is_share: bool, overall: float, segments: Sequence[SegmentRow]) -> Figure:
    """A row per segment; dashed: the error of all rows."""
    figure = style.canvas(7.2, 1.5 + 0.38 * max(len(segments), 2))
    style.headline(
        figure,
        "Segments with most error",
        f"{style.label(measure, 60)}, with its 95% interval; dashed: all rows",
    )
    axes = figure.subplots()
    places = range(len(segments))
    axes.axvline(overall, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
    axes.hlines(
        places,
        style.finite([s.low for s in segments]),
        style.finite([s.high for s in segments]),
        color=FAINT,
        linewidth=4,
    )
    errors = style.finite([s.error for s in segments])
    axes.plot(errors, places, "o", color=ORANGE, markeredgecolor=INK, markeredgewidth=0.7, markersize=7)
    _name_rows(axes, [f"{style.label(s.column, 22)} {s.text}" for s in segments], width=46)
    axes.set_ylim(max(len(segments), 2) - 0.4, -0.6)
    axes.margins(x=0.1)
    rows = axes.secondary_yaxis("right")
    rows.set_yticks(places, [f"{s.rows:,} rows" for s in segments])
    rows.spines["right"].set_visible(False)
    rows.tick_params(length=0, labelcolor=INK)
    if is_share:
        style.share_ticks(axes, "x")
    axes.set_xlabel(style.label(measure, 60))
    return figure


def _name_rows(axes: Axes, names: Sequence[str], width: int = 30) -> None:
    """Label one row per name, the first on top."""
    axes.set_yticks(range(len(names)), [style.label(name, width) for name in names], color=INK)
    axes.set_ylim(max(len(names), 1) - 0.4, -0.6)
    style.columns_grid(axes)
    style.plain_ticks(axes, "x")


def _curve(axes: Axes, panel: DependencePanel) -> None:
    stepped = panel.kind == "category"
    at = _places(panel)
    _draw_density(axes, panel, at)
    for place, line in enumerate(panel.lines):
        mean, low, high = (style.finite(numbers) for numbers in (line.mean, line.low, line.high))
        if len(panel.lines) == 1 and stepped:
            axes.vlines(at, low, high, color=_BAND, linewidth=7)
        elif len(panel.lines) == 1:
            axes.fill_between(at, low, high, color=_BAND, linewidth=0)
        look: dict[str, Any] = {
            "color": SERIES[place % len(SERIES)],
            "label": style.label(str(line.of_class), 16),
        }
        if stepped:
            axes.plot(
                at, mean, "os^D"[place % 4], markeredgecolor=INK, markeredgewidth=0.7, markersize=5, **look
            )
        else:
            axes.plot(at, mean, linestyle=LINES[place % len(LINES)], **look)
    _name_steps(axes, panel, at)
    style.rows_grid(axes)
    style.plain_ticks(axes, "y")
    axes.locator_params(axis="y", nbins=4)
    axes.set_title(style.label(panel.column, 24), loc="left", fontweight="bold")


def _places(panel: DependencePanel) -> "np.ndarray[Any, Any]":
    if panel.kind == "category":
        return np.arange(len(panel.at))
    if panel.kind == "datetime":
        days: np.ndarray[Any, Any] = np.array([moment[:19] for moment in panel.at], dtype="datetime64[s]")
        return days.astype("int64") / 86_400
    return np.asarray(panel.at, float)


def _name_steps(axes: Axes, panel: DependencePanel, at: "np.ndarray[Any, Any]") -> None:
    if panel.kind == "number":
        style.plain_ticks(axes, "x")
        axes.locator_params(axis="x", nbins=4)
        return
    texts = [str(value) for value in panel.at]
    if panel.kind == "datetime":
        tick_places = [0, len(at) // 2, len(at) - 1]
        axes.set_xticks(at[tick_places], [texts[place][:10] for place in tick_places], fontsize=7.5)
        return
    names = [style.label(text, 11) for text in texts]
    turned = sum(len(name) for name in names) > 20
    axes.set_xticks(at, names, rotation=35 if turned else 0, ha="right" if turned else "center")
    axes.set_xlim(-0.6, len(at) - 0.4)


def _draw_density(axes: Axes, panel: DependencePanel, at: "np.ndarray[Any, Any]") -> None:
    """Draw the density of rows as pale bars along the bottom."""
    counts, edges = panel.density.counts, panel.density.edges
    if not counts or not max(counts):
        return
    below = axes.twinx()
    if edges:
        below.bar(edges[:-1], counts, width=np.diff(edges), align="edge", color=_DENSITY)
    else:
        below.bar(at, counts, width=0.78, color=_DENSITY)
    # The bars take the lowest quarter, below the lines.
    below.set_ylim(0, max(counts) * 4)
    below.set_axis_off()
    # A twin is drawn above its axes, and would cover the lines.
    axes.set_zorder(below.get_zorder() + 1)
    axes.patch.set_visible(False)


def _share_scale(grid: Sequence[Axes], panels: Sequence[DependencePanel]) -> None:
    # Bands are drawn for single lines only, and would otherwise stretch the scale without being seen.
    single_line = all(len(panel.lines) == 1 for panel in panels)
    ends = [
        value
        for panel in panels
        for line in panel.lines
        for numbers in ((line.low, line.high) if single_line else (line.mean,))
        for value in numbers
        if value is not None
    ]
    if not ends:
        return
    pad = 0.06 * ((max(ends) - min(ends)) or 1)
    for axes in grid:
        axes.set_ylim(min(ends) - pad, max(ends) + pad)


def _swarm(values: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Return vertical offsets that separate dots of equal value: each bin is stacked around the middle."""
    spread = np.ptp(values) or 1.0
    bins = np.round((values - values.min()) / spread * 60).astype(int)
    heights = np.zeros(len(values))
    for bin_number in np.unique(bins):
        members = np.flatnonzero(bins == bin_number)
        offsets = np.arange(len(members)) - (len(members) - 1) / 2
        heights[members] = offsets
    # Rows are one apart, so the tallest stack stays within its own.
    return heights * min(0.05, 0.38 / max(float(np.abs(heights).max()), 1e-9))


def _shades(numbers: "np.ndarray[Any, Any]") -> Any:
    """Return a shade per row by rank; one grey for all if the values have no order."""
    present = ~np.isnan(numbers)
    if present.sum() < 2 or np.ptp(numbers[present]) == 0:
        return _CODE
    ranks = np.full(len(numbers), 0.5)
    # Shades go by rank: by value, one outlier would leave all other dots equally light.
    values, places = np.unique(numbers[present], return_inverse=True)
    ranks[present] = places / max(len(values) - 1, 1)
    # The lightest quarter of the map does not stand out from white paper.
    return style.SEQUENTIAL(0.25 + 0.75 * ranks)
