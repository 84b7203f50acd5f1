"""Figures of a computation's facts, written to its output folder."""

from collections.abc import Sequence
from pathlib import Path

from app.reporting.figure_data import Drawable
from app.reporting.figures.drawing import draw, write_figure
from app.reporting.gallery import GALLERY


def write_figures(folder: Path, drawables: Sequence[Drawable]) -> list[dict[str, str]]:
    """Draw figures into `folder`; return `[{"file", "title"}]` of each SVG (with a PNG beside it)."""
    figures = []
    for drawable in drawables:
        svg, _ = write_figure(folder, drawable.kind, draw(drawable.kind, drawable.facts))
        figures.append({"file": svg, "title": GALLERY[drawable.kind].title})
    return figures
