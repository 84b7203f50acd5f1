"""How a session's working time is shared out."""

from dataclasses import dataclass

from app.agents.state import LabState

DEFAULT_BUDGET_S = 60.0
TRAINING_SHARE = 0.5
"""Of what is left, for the first round; tuning, evaluation and the report get the rest."""
ENDING_S = 8.0
"""Kept back for the last evaluation and the report."""
LEAST_TUNING_S = 5.0


@dataclass(frozen=True)
class Budget:
    """`total_s` as the user set it. A deterministic session pretends that the clock stands still."""

    total_s: float
    spent_s: float
    deterministic: bool

    @property
    def left_s(self) -> float:
        return max(0.0, self.total_s - (0.0 if self.deterministic else self.spent_s))

    @property
    def for_training_s(self) -> float:
        return max(5.0, TRAINING_SHARE * self.left_s)

    @property
    def for_tuning_s(self) -> float:
        return max(0.0, self.left_s - ENDING_S)

    @property
    def allows_tuning(self) -> bool:
        return self.for_tuning_s >= LEAST_TUNING_S


def budget_of(state: LabState) -> Budget:
    preferences = state.get("preferences", {})
    return Budget(
        total_s=float(preferences.get("time_budget_s") or DEFAULT_BUDGET_S),
        spent_s=float(state.get("spent_s", 0.0)),
        deterministic=bool(preferences.get("deterministic")),
    )
