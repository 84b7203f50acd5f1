"""Shared style of all figures: readable in grey, safe for colour-blind readers.

Colours differ in lightness as well as hue, and each colour is doubled by a marker, a line style or a number.
Text that comes from data is never parsed as mathematics.
"""

import io
import unicodedata
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

INK = "#1c2530"
MUTED = "#5d6875"
FAINT = "#c3cad3"
GRID = "#e6eaef"
BLUE = "#1d5b99"
ORANGE = "#e69a2e"
GREEN = "#2f8f7a"
PLUM = "#8a3b6f"
SERIES = (BLUE, ORANGE, GREEN, PLUM)
LINES = ("-", "--", "-.", ":")

SEQUENTIAL = LinearSegmentedColormap.from_list("lab_sequential", ["#f5f8fb", "#b9d2e8", "#5b94c5", "#123f6e"])
DIVERGING = LinearSegmentedColormap.from_list(
    "lab_diverging", ["#a8500a", "#f0c894", "#f7f7f5", "#a9c8e4", "#123f6e"]
)

RC: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "text.color": INK,
    "text.parse_math": False,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.labelsize": 9.5,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "axes.axisbelow": True,
    "axes.formatter.use_mathtext": False,
    "axes.unicode_minus": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.8,
    "lines.solid_capstyle": "round",
    "hatch.linewidth": 0.7,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    # Outlines, so that a reader's machine needs no font of ours.
    "svg.fonttype": "path",
    # Ids in an SVG are hashes with a salt, which is random by default and would make the bytes differ.
    "svg.hashsalt": "labcrew",
}

_PNG_DPI = 180
"""Dots per inch of a PNG: sharp on screens with two pixels per point."""
_LEGEND_ROW_CHARS = 90
"""Characters of a legend's font that stand side by side in a figure 7.8 inches wide, beside its axis labels."""
_LEGEND_SIGN_CHARS = 8
"""Width of the sign before a label and of the gap after it, in characters."""
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Drawing:
    """A figure in two formats. `svg` has no script and no outside reference; equal facts give equal bytes."""

    svg: bytes
    png: bytes


def canvas(width: float, height: float) -> Figure:
    """An empty figure in inches; call inside `rc()`."""
    # Not by pyplot, which keeps every figure in a global list and picks a backend of the machine.
    return Figure(figsize=(width, height), layout="constrained")


def headline(figure: Figure, title: str, note: str = "") -> None:
    """A bold title over a muted line (what is shown, in which unit), in a strip of its own."""
    height = figure.get_figheight()
    strip = (0.56 if note else 0.34) / height
    figure.set_layout_engine("constrained", rect=(0.005, 0.01, 0.985, 0.99 - strip), w_pad=0.06, h_pad=0.06)
    figure.text(0.012, 1 - 0.09 / height, title, fontsize=12, fontweight="bold", va="top", color=INK)
    if note:
        figure.text(0.012, 1 - 0.335 / height, note, fontsize=8.5, va="top", color=MUTED)


def legend_above(axes: Axes) -> None:
    """A legend in rows over the axes: inside them it would cover a line that begins or ends there."""
    handles, labels = axes.get_legend_handles_labels()
    entry = max(len(text) for text in labels) + _LEGEND_SIGN_CHARS
    columns = max(1, min(len(labels), _LEGEND_ROW_CHARS // entry))
    axes.legend(handles, labels, loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, borderaxespad=0.2)


def encode(figure: Figure) -> Drawing:
    """SVG and PNG bytes of a figure; call inside `rc()`."""
    with warnings.catch_warnings():
        # A column name may hold a sign that the font lacks: it is drawn as a box, which is no reason
        # for a warning.
        warnings.filterwarnings("ignore", message=r"Glyph \d+")
        _fix_layout(figure)
        svg, png = io.BytesIO(), io.BytesIO()
        # Straight to the canvas: `savefig` would draw each of them a second time to find its bounds.
        on_svg: Any = FigureCanvasSVG(figure)  # its methods are untyped in matplotlib
        on_svg.print_svg(svg, metadata={"Date": None, "Creator": None})
        figure.dpi = _PNG_DPI
        on_png: Any = FigureCanvasAgg(figure)
        on_png.print_png(png, metadata={"Software": None})
    return Drawing(svg.getvalue(), png.getvalue())


def _fix_layout(figure: Figure) -> None:
    """Lay out once, on round places: the solver's last digits vary, and equal facts must give equal bytes."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
    figure.set_layout_engine("none")
    for axes in figure.axes:
        x, y, width, height = axes.get_position(original=True).bounds
        axes.set_position((round(x, 4), round(y, 4), round(width, 4), round(height, 4)))


def label(text: object, width: int = 26) -> str:
    """A name from the data as one short printable line.

    A leading underscore gets a space before it: matplotlib leaves such labels out of legends.
    """
    printable = "".join(c if unicodedata.category(c)[0] not in "CZ" else " " for c in str(text))
    line = " ".join(printable.split()) or "(empty)"
    line = line if len(line) <= width else line[: width - 1].rstrip() + "…"
    return f" {line}" if line.startswith("_") else line


def share(value: float) -> str:
    return f"{100 * value:.0f}%"


def plain_ticks(axes: Axes, which: str = "both") -> None:
    """Tick labels that a person reads at once: 1.2k, 3M, 40%; no offsets, no powers."""
    formatter = FuncFormatter(lambda value, _: _compact(value))
    if which in ("x", "both"):
        axes.xaxis.set_major_formatter(formatter)
    if which in ("y", "both"):
        axes.yaxis.set_major_formatter(formatter)


def share_ticks(axes: Axes, which: str) -> None:
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_formatter(FuncFormatter(lambda value, _: share(value)))


def rows_grid(axes: Axes) -> None:
    axes.grid(axis="y")
    axes.tick_params(axis="both", length=0)


def columns_grid(axes: Axes) -> None:
    axes.grid(axis="x")
    axes.tick_params(axis="both", length=0)
    axes.spines["left"].set_visible(False)


def panels(figure: Figure, count: int, columns: int) -> list[Axes]:
    """`count` axes in a grid of at most `columns`; the cells left over stay empty."""
    columns = min(columns, count)
    rows = -(-count // columns)
    grid = figure.subplots(rows, columns, squeeze=False)
    flat = [axes for row in grid for axes in row]
    for spare in flat[count:]:
        spare.set_axis_off()
    return flat[:count]


def ink_on(fraction: float) -> str:
    """The readable text colour on a cell of the sequential map filled to `fraction`."""
    return "white" if fraction > 0.55 else INK


def _compact(value: float) -> str:
    size = abs(value)
    for bound, unit in ((1e9, "B"), (1e6, "M"), (1e4, "k")):
        if size >= bound:
            divisor = 1e3 if unit == "k" else bound
            return f"{value / divisor:.4g}{unit}".replace("-", MINUS)
    text = f"{value:,.4g}" if size >= 1000 else f"{value:.4g}"
    return text.replace("-", MINUS)


def rc() -> Any:
    """The context in which a figure is both made and encoded."""
    return mpl.rc_context(RC)


def finite(values: Sequence[float | None]) -> list[float]:
    """None (JSON has no NaN) becomes NaN, which matplotlib leaves out."""
    return [float("nan") if value is None else float(value) for value in values]
