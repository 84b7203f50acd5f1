"""The size of the training frame and the minimal time of a fit on it."""

from dataclasses import dataclass

from app.agents.state import SessionState
from app.modeling.problem.forecast_steps import steps_per_origin

CELLS_PER_SECOND = 2_500_000
"""Values that a minimal fit reads, encodes and trains on per second. A rough figure of a two-core machine."""
FIT_START_S = 0.4
"""Fixed cost of a fit: starting the cell and reading the frame."""
COLUMNS_PER_TEXT = 12
"""Numeric columns that one free-text column counts for: its words are tokenized and become several features."""


@dataclass(frozen=True)
class FrameSize:
    rows: int
    columns: int
    slowness: float = 1.0
    """Factor by which work takes longer than on an idle machine, as measured during the split."""

    @property
    def min_fit_s(self) -> float:
        """Seconds below which a fit sees too little of the frame to be useful."""
        return self.slowness * (FIT_START_S + self.rows * self.columns / CELLS_PER_SECOND)

    def useful_fit_s(self, seconds_per_cell: float) -> float:
        """Seconds of a useful fit of a family."""
        return self.slowness * (FIT_START_S + seconds_per_cell * self.rows * self.columns)


def measure_frame(state: SessionState) -> FrameSize:
    columns = sum(COLUMNS_PER_TEXT if column.type == "text" else 1 for column in state.columns)
    rows, problem = state.split.train_rows, state.problem
    steps = steps_per_origin(rows, problem.horizon) if problem.every_step and problem.horizon else 1
    # A measured slowness would let two runs of a deterministic session choose differently.
    slowness = 1.0 if state.training_preferences.deterministic else state.split.slowness
    return FrameSize(rows * steps, columns, slowness)
