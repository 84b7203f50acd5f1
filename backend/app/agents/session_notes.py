"""Notes that chat models leave for the agents after them, and for the user."""

from collections.abc import Sequence
from typing import Any

from app.agents.runtime.agent_loop import Agent
from app.agents.state import LabState, LabUpdate, add_notes


def collect_notes(state: LabState, agent: Agent[Any], texts: Sequence[str]) -> LabUpdate:
    """Return the update of the state that keeps an agent's notes.

    Offline policies note what the report says from recorded facts: theirs are not kept.
    """
    if agent.is_offline or not any(text.strip() for text in texts):
        return {}
    return {"notes": add_notes(state, agent.role.name, texts)}
