"""The training context of tools, and the facts that every agent after the split receives."""

import re
from collections.abc import Mapping
from typing import Any

from app.agents.state import Json, LabState
from app.tools.context import TrainingContext


def make_training_context(state: LabState, deadline_s: float = 60.0) -> TrainingContext:
    return TrainingContext(
        state["problem"],
        state["split"]["folds"],
        deadline_s,
        state.get("hands", 1),
        tuple(state["plan"]["families"]),
    )


def make_problem_brief(state: LabState) -> Json:
    """Make the brief that all agents after the split have in common."""
    split = state["split"]
    return {
        "goal": state["goal"],
        "problem": state["problem"],
        "rows": split["train_rows"],
        "split": {"kind": split["kind"], "reason": split["reason"]},
        "families": state["plan"]["families"],
        "preferences": state.get("preferences", {}),
        "model": state["plan"]["model"] or preferred_model(state["goal"], state.get("preferences", {})),
    }


_SINGLE_MODEL = re.compile(r"\b(simple|simplest|single)\s+model\b|\bno ensembles?\b", re.IGNORECASE)
_INTERPRETABLE_MODEL = re.compile(r"\b(interpretable|explainable|transparent|linear)\s+model\b", re.IGNORECASE)


def preferred_model(goal: str, preferences: Mapping[str, Any]) -> str:
    """Return `ensemble`, `single` (the best family alone) or `interpretable` (a linear model).

    The preference `model` decides; without one the goal's words do.
    """
    if preference := preferences.get("model"):
        return str(preference)
    if _INTERPRETABLE_MODEL.search(goal):
        return "interpretable"
    return "single" if _SINGLE_MODEL.search(goal) else "ensemble"
