"""How large the training frame is, and what that means for the time of a fit."""

from dataclasses import dataclass

from app.agents.state import LabState
from app.modeling.problem.forecast_steps import steps_per_origin

CELLS_A_SECOND = 2_500_000
"""Values that are read, encoded and learned from a first time in a second, roughly."""
START_S = 0.4
TEXT_COLUMNS = 12
"""How many columns one of free text counts for: its words are read, and become several numbers."""


@dataclass(frozen=True)
class Size:
    rows: int
    columns: int

    @property
    def least_s(self) -> float:
        """In less time a fit learns next to nothing of the frame."""
        return START_S + self.rows * self.columns / CELLS_A_SECOND


def size_of(state: LabState) -> Size:
    columns = sum(TEXT_COLUMNS if column.get("type") == "text" else 1 for column in state["columns"])
    rows, problem = int(state["split"]["train_rows"]), state["problem"]
    each = steps_per_origin(rows, int(problem["horizon"])) if problem.get("every_step") else 1
    return Size(rows * each, columns)
