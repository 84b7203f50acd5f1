"""Figures of a computation's facts, written to its output folder."""

from collections.abc import Iterable
from pathlib import Path

from app.modeling.training.deadline import Deadline
from app.reporting.figure_data import Drawable
from app.reporting.figures.drawing import draw, write_figure
from app.reporting.gallery import GALLERY


def write_figures(
    folder: Path, drawables: Iterable[Drawable], deadline: Deadline | None = None
) -> list[dict[str, str]]:
    """Draw figures into `folder`; return `[{"file", "title"}]` of each SVG (with a PNG beside it).

    Figures are drawn as long as one more, which takes as long as the slowest so far, ends before the deadline.
    """
    figures: list[dict[str, str]] = []
    deadline, slowest_s = deadline or Deadline(None), 0.0
    for drawable in drawables:
        started_s = deadline.spent_s
        if deadline.is_over or not deadline.allows(slowest_s):
            break
        svg, _ = write_figure(folder, drawable.kind, draw(drawable.kind, drawable.facts))
        figures.append({"file": svg, "title": GALLERY[drawable.kind].title})
        slowest_s = max(slowest_s, deadline.spent_s - started_s)
    return figures
