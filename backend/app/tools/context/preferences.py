"""The user's preferences that decide how a session computes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.modeling.facts.conversion import parse_facts

DEFAULT_BUDGET_S = 60.0
"""Time budget in seconds of a session without a preference."""


@dataclass(frozen=True)
class TrainingPreferences:
    """Preferences of a session; None where the user has none.

    `model`: `ensemble`, `single` (the best family alone) or `interpretable` (a linear model).
    """

    time_budget_s: float | None = None
    deterministic: bool | None = None
    model: str | None = None

    def limited_to(self, seconds: float | None) -> "TrainingPreferences":
        """Return the preferences with the plan's limit in seconds as time budget. None is no limit."""
        return self if seconds is None else replace(self, time_budget_s=seconds)


def read_preferences(document: Mapping[str, Any]) -> TrainingPreferences:
    return parse_facts(TrainingPreferences, document)
