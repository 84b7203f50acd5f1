"""The pipeline's state at its two ends: how a session starts, and what it shows when it is done."""

from collections.abc import Mapping
from typing import Any

from app.agents.state import LabState
from app.sessions.step_scope import SessionFacts


def initial(facts: SessionFacts) -> LabState:
    return {
        "step": 0,
        "goal": facts.goal,
        "preferences": dict(facts.preferences),
        "rounds": 0,
        "worked_s": 0.0,
        "took": {},
    }


def result(state: Mapping[str, Any]) -> dict[str, Any]:
    """What a completed session shows."""
    return dict(state["result"])
