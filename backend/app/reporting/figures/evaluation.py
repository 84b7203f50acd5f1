"""Figures of the evaluation: leaderboard, classification and regression."""

from collections.abc import Sequence
from math import floor, log10
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from app.reporting.figure_data import CalibrationCurve, DrawnCandidate, PrecisionRecallCurve, RocCurve
from app.reporting.figures import style
from app.reporting.figures.style import BLUE, FAINT, INK, LINES, MUTED, ORANGE, SEQUENTIAL, SERIES

_MAX_OPAQUE_POINTS = 1500
"""Points up to which a scatter plot is drawn with large dots as vectors; above, as a faint bitmap."""


def leaderboard(metric: str, greater_is_better: bool, entries: Sequence[DrawnCandidate]) -> Figure:
    """A row per candidate; the baseline is also a line."""
    sign = -1 if greater_is_better else 1
    ranked = sorted(entries, key=lambda e: sign * e.mean)
    figure = style.canvas(7.2, 1.45 + 0.4 * len(ranked))
    better = "higher" if greater_is_better else "lower"
    style.headline(
        figure,
        "Candidates compared by cross-validation",
        f"{metric}, {better} is better; point: mean, bar: one standard deviation, ticks: single folds",
    )
    axes = figure.subplots()
    for place, entry in enumerate(ranked):
        _candidate(axes, place, entry)
    for entry in ranked:
        if entry.baseline:
            axes.axvline(entry.mean, color=MUTED, linewidth=1, linestyle=(0, (4, 3)), zorder=0)
    axes.set_yticks(range(len(ranked)), [style.label(e.name, 30) for e in ranked], color=INK)
    axes.set_ylim(len(ranked) - 0.45, -0.55)
    axes.margins(x=0.08)
    style.columns_grid(axes)
    style.plain_ticks(axes, "x")
    axes.set_xlabel(metric)
    values = axes.secondary_yaxis("right")
    values.set_yticks(range(len(ranked)), [_score_text(e) for e in ranked])
    values.spines["right"].set_visible(False)
    values.tick_params(length=0, labelcolor=INK)
    return figure


def roc(curves: Sequence[RocCurve]) -> Figure:
    """A curve per model or class."""
    figure = style.canvas(3.7, 3.9)
    style.headline(figure, "ROC curve", "Positives found against negatives wrongly flagged")
    axes = _unit_square(figure)
    axes.plot([0, 1], [0, 1], color=FAINT, linestyle=(0, (4, 3)), linewidth=1.2, label="chance")
    for place, curve in enumerate(curves):
        text = f"{style.label(curve.label)} (AUC {curve.auc:.3f})"
        axes.plot(curve.fpr, curve.tpr, **_stroke(place), label=text, drawstyle="steps-post")
    if len(curves) == 1:
        axes.fill_between(curves[0].fpr, curves[0].tpr, step="post", color=BLUE, alpha=0.08, linewidth=0)
    axes.set_xlabel("False positive rate")
    axes.set_ylabel("True positive rate")
    axes.legend(loc="lower right")
    return figure


def precision_recall(curves: Sequence[PrecisionRecallCurve], prevalence: float | None = None) -> Figure:
    """A curve per model or class; `prevalence`: the average precision of guessing."""
    figure = style.canvas(3.7, 3.9)
    style.headline(figure, "Precision and recall", "Flagged rows that are right against positives found")
    axes = _unit_square(figure)
    if prevalence is not None:
        axes.axhline(prevalence, color=FAINT, linestyle=(0, (4, 3)), linewidth=1.2, label="always positive")
    for place, curve in enumerate(curves):
        text = f"{style.label(curve.label)} (AP {curve.average_precision:.3f})"
        # Average precision sums up steps, so its curve is not interpolated either.
        axes.plot(curve.recall, curve.precision, **_stroke(place), label=text, drawstyle="steps-pre")
    axes.set_xlabel("Recall")
    axes.set_ylabel("Precision")
    axes.legend(loc="lower left")
    return figure


MAX_CLASSES = 40
"""Classes in one matrix, limited by legibility: those with most errors are drawn."""


def confusion(labels: Sequence[Any], matrix: Sequence[Sequence[int]]) -> Figure:
    """`matrix[actual][predicted]` in rows; colour and percentage are shares of each actual class."""
    all_counts = np.asarray(matrix, float)
    totals = all_counts.sum(axis=1, keepdims=True)
    class_places = _most_mistaken(all_counts)
    counts = all_counts[np.ix_(class_places, class_places)]
    # A class may be predicted and have no actual row: its shares are 0.
    shares = np.divide(counts, totals[class_places], out=np.zeros_like(counts), where=totals[class_places] > 0)
    size = len(class_places)
    side = max(0.8 * size, 2.2)
    figure = style.canvas(min(side + 1.5, 9.0), min(side + 1.7, 8.4))
    selection = f"; the {size} of {len(labels)} classes with most errors" if size < len(labels) else ""
    note = f"Rows; percentage and colour: share of the actual class{selection}"
    style.headline(figure, "Confusion matrix", note)
    axes = figure.subplots()
    axes.imshow(shares, cmap=SEQUENTIAL, vmin=0, vmax=1)
    small = size > 6
    _number_cells(axes, counts, shares, small)
    # Two classes have room for what they mean.
    names = [style.label(labels[place], 24 if size == 2 else 14) for place in class_places]
    turned = max(len(name) for name in names) > 8 or small
    axes.set_xticks(
        range(size), names, color=INK, rotation=35 if turned else 0, ha="right" if turned else "center"
    )
    axes.set_yticks(range(size), names, color=INK)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_xlabel("Predicted")
    axes.set_ylabel("Actual")
    return figure


def _most_mistaken(counts: np.ndarray) -> list[int]:
    """Return the places of the classes to draw, in order: all, or those with most errors."""
    wrong = counts - np.diag(np.diag(counts))
    # Both directions: a class is of interest if it is missed and if others are taken for it.
    mistaken = wrong.sum(axis=0) + wrong.sum(axis=1)
    # Stable, so that equal facts select the same classes and give the same bytes.
    return sorted(np.argsort(-mistaken, kind="stable")[:MAX_CLASSES].tolist())


def _number_cells(axes: Axes, counts: np.ndarray, shares: np.ndarray, small: bool) -> None:
    """Annotate each cell with its count; with `small` cells, omit zeros and shares."""
    for (row, column), part in np.ndenumerate(shares):
        count = f"{int(counts[row, column]):,}"
        if small and count == "0":
            continue
        text = axes.text(column, row, count if small else f"{count}\n{style.share(part)}")
        text.set(ha="center", va="center", fontsize=7 if small else 10, color=style.ink_on(part))
        # The text lies inside the axes, so the layout need not measure it: for a thousand cells that
        # takes seconds.
        text.set_in_layout(False)


def calibration(curves: Sequence[CalibrationCurve]) -> Figure:
    """A curve per model, with one point per bin of the prediction."""
    figure = style.canvas(3.7, 4.3)
    style.headline(figure, "Calibration", "Observed share per range of predicted probability")
    # Counts below, since a point far off the diagonal means little where few rows are.
    axes, below = figure.subplots(2, 1, height_ratios=[4.2, 1], sharex=True)
    axes.plot([0, 1], [0, 1], color=FAINT, linestyle=(0, (4, 3)), linewidth=1.2, label="perfect")
    width = 0.022 / max(len(curves), 1)
    for place, curve in enumerate(curves):
        x, y = style.finite(curve.predicted), style.finite(curve.observed)
        axes.plot(
            x, y, marker="os^D"[place % 4], markersize=5, label=style.label(curve.label), **_stroke(place)
        )
        below.bar([v + place * width for v in x], curve.counts, width=width, color=SERIES[place % 4])
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    axes.set_ylabel("Observed share")
    axes.legend(loc="upper left")
    style.rows_grid(axes)
    style.rows_grid(below)
    style.plain_ticks(below, "y")
    below.locator_params(axis="y", nbins=3)
    below.set_ylabel("Rows")
    below.set_xlabel("Predicted probability")
    return figure


def predicted_vs_actual(actual: Sequence[float], predicted: Sequence[float], target: str = "") -> Figure:
    """One point per hold-out row, both axes in the unit of the target."""
    figure = style.canvas(3.7, 3.9)
    style.headline(
        figure, "Predicted against actual", f"{style.label(target or 'target')}, hold-out rows; line: perfect"
    )
    axes = figure.subplots()
    # One range for both axes, so that the line of perfect predictions is the diagonal.
    both = [*actual, *predicted]
    low, high = min(both), max(both)
    pad = 0.04 * ((high - low) or 1)
    axes.plot([low, high], [low, high], color=MUTED, linestyle=(0, (4, 3)), linewidth=1.2)
    _cloud(axes, actual, predicted)
    axes.set_xlim(low - pad, high + pad)
    axes.set_ylim(low - pad, high + pad)
    axes.set_aspect("equal")
    axes.grid(visible=True)
    axes.tick_params(length=0)
    style.plain_ticks(axes)
    axes.set_xlabel("Actual")
    axes.set_ylabel("Predicted")
    return figure


def residuals(predicted: Sequence[float], residuals: Sequence[float], target: str = "") -> Figure:
    """Residual = actual - predicted, against the prediction and as a distribution."""
    figure = style.canvas(3.7, 3.9)
    unit = f" ({style.label(target, 14)})" if target else ""
    style.headline(figure, "Residuals", f"Actual minus predicted{unit}, and how often")
    axes, histogram = figure.subplots(1, 2, width_ratios=[3.4, 1], sharey=True)
    axes.axhline(0, color=MUTED, linewidth=1.2, linestyle=(0, (4, 3)))
    _cloud(axes, predicted, residuals)
    histogram.hist(residuals, bins=24, orientation="horizontal", color=BLUE, edgecolor="white", linewidth=0.5)
    for panel in (axes, histogram):
        style.rows_grid(panel)
        style.plain_ticks(panel)
    histogram.locator_params(axis="x", nbins=2)
    axes.set_xlabel("Predicted")
    axes.set_ylabel("Residual")
    histogram.set_xlabel("Rows")
    return figure


def _score_text(entry: DrawnCandidate) -> str:
    """Return the mean with four digits, and the deviation of several folds."""
    places = min(max(3 - floor(log10(abs(entry.mean))), 0), 4) if entry.mean else 3
    spread = f" ± {entry.std:,.{places}f}" if entry.std else ""
    return f"{entry.mean:,.{places}f}{spread}"


def _candidate(axes: Axes, place: int, entry: DrawnCandidate) -> None:
    baseline, best = entry.baseline, entry.best
    colour = MUTED if baseline else ORANGE if best else BLUE
    mean, std = entry.mean, entry.std
    axes.hlines(place, mean - std, mean + std, color=colour, alpha=0.28, linewidth=9)
    folds = entry.folds
    axes.plot(folds, [place] * len(folds), "|", color=colour, markersize=11, markeredgewidth=1.3)
    marker = "s" if baseline else "D" if best else "o"
    axes.plot([mean], [place], marker, color=colour, markeredgecolor=INK, markeredgewidth=0.8, markersize=7)


def _unit_square(figure: Figure) -> Axes:
    axes: Axes = figure.subplots()
    axes.set_xlim(-0.01, 1.01)
    axes.set_ylim(-0.01, 1.02)
    axes.set_aspect("equal")
    axes.grid(visible=True)
    axes.tick_params(length=0)
    return axes


def _stroke(place: int) -> dict[str, Any]:
    return {"color": SERIES[place % len(SERIES)], "linestyle": LINES[place % len(LINES)]}


def _cloud(axes: Axes, x: Sequence[float], y: Sequence[float]) -> None:
    many = len(x) > _MAX_OPAQUE_POINTS
    axes.scatter(
        x, y, s=8 if many else 20, alpha=0.25 if many else 0.6, color=BLUE, edgecolor="none", rasterized=many
    )
