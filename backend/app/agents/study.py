"""From the state to what tools need once the hold-out is locked."""

from app.agents.state import Json, LabState
from app.tools.context import Study


def study_of(state: LabState, until_s: float = 60.0) -> Study:
    return Study(state["problem"], state["split"]["folds"], until_s, state.get("hands", 1))


def problem_brief(state: LabState) -> Json:
    """What every agent after the split is told."""
    split = state["split"]
    return {
        "goal": state["goal"],
        "problem": state["problem"],
        "rows": split["train_rows"],
        "split": {"kind": split["kind"], "reason": split["reason"]},
        "preferences": state.get("preferences", {}),
    }
