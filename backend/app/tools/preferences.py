"""The user's preferences that decide how a session computes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.modeling.facts.conversion import parse_facts


@dataclass(frozen=True)
class TrainingPreferences:
    """Preferences of a session; None where the user has none.

    `model`: `ensemble`, `single` (the best family alone) or `interpretable` (a linear model).
    """

    time_budget_s: float | None = None
    deterministic: bool | None = None
    model: str | None = None


def read_preferences(document: Mapping[str, Any]) -> TrainingPreferences:
    return parse_facts(TrainingPreferences, document)
