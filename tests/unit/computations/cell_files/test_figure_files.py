"""Figures are drawn while their time lasts."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.computations.cell_files.figure_files import write_figures
from app.modeling.training.deadline import Deadline
from app.reporting.figure_data import Drawable


class Clock:
    """A clock that moves on by a second before each figure."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds

    def figures(self) -> Iterator[Drawable]:
        for _ in range(3):
            self.seconds += 1
            yield Drawable("confusion", {"labels": ["no", "yes"], "matrix": [[3, 1], [0, 4]]})


@pytest.mark.parametrize(("limit_s", "drawn"), [(None, 3), (9.0, 3), (2.5, 2), (0.0, 0)])
def test_figures_beyond_the_time_are_left_out(tmp_path: Path, limit_s: float | None, drawn: int) -> None:
    clock = Clock()
    assert len(write_figures(tmp_path, clock.figures(), Deadline(limit_s, clock))) == drawn
