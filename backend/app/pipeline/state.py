"""The initial state of a session and its public result."""

from collections.abc import Mapping
from typing import Any

from app.agents.state import LabState
from app.sessions.step_scope import SessionFacts


def initial_state(facts: SessionFacts) -> LabState:
    return {
        "step": 0,
        "goal": facts.goal,
        "preferences": dict(facts.preferences),
        "rounds": 0,
        "worked_s": 0.0,
        "took": {},
    }


def session_result(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the public result of a completed session."""
    return dict(state["result"])
