"""From the state to what tools need once the hold-out is locked."""

import re
from collections.abc import Mapping
from typing import Any

from app.agents.state import Json, LabState
from app.tools.context import TrainingContext


def study_of(state: LabState, until_s: float = 60.0) -> TrainingContext:
    return TrainingContext(
        state["problem"],
        state["split"]["folds"],
        until_s,
        state.get("hands", 1),
        tuple(state["plan"]["families"]),
    )


def problem_brief(state: LabState) -> Json:
    """What every agent after the split is told."""
    split = state["split"]
    return {
        "goal": state["goal"],
        "problem": state["problem"],
        "rows": split["train_rows"],
        "split": {"kind": split["kind"], "reason": split["reason"]},
        "families": state["plan"]["families"],
        "preferences": state.get("preferences", {}),
        "model": state["plan"]["model"] or model_wish(state["goal"], state.get("preferences", {})),
    }


_SIMPLE = re.compile(r"\b(simple|simplest|single)\s+model\b|\bno ensembles?\b", re.IGNORECASE)
_READABLE = re.compile(r"\b(interpretable|explainable|transparent|linear)\s+model\b", re.IGNORECASE)


def model_wish(goal: str, preferences: Mapping[str, Any]) -> str:
    """`ensemble`, `single` (the best family alone) or `interpretable` (a linear one)."""
    if wished := preferences.get("model"):
        return str(wished)
    if _READABLE.search(goal):
        return "interpretable"
    return "single" if _SIMPLE.search(goal) else "ensemble"
