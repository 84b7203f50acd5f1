"""Figures that a computation leaves of what it measured."""

from collections.abc import Sequence
from pathlib import Path

from app.reporting.figure_choice import Drawable
from app.reporting.figures.drawing import draw, write_figure
from app.reporting.gallery import GALLERY


def leave_pictures(folder: Path, drawables: Sequence[Drawable]) -> list[dict[str, str]]:
    """Draw them into `folder`; `[{"file", "title"}]` of each SVG (a PNG lies beside it)."""
    left = []
    for each in drawables:
        svg, _ = write_figure(folder, each.kind, draw(each.kind, each.facts))
        left.append({"file": svg, "title": GALLERY[each.kind].title})
    return left
