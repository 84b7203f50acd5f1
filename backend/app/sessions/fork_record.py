"""The stored description of a fork: the point that it begins at, its change, and what a replay adds to it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ForkRecord:
    """The column `fork` of a session. `at` and `change` are those of the request.

    `step`: the first step that the fork runs itself. `overlays`: step -> keys of the state that a replay lays
    over its recorded update, so that the recorded row stays as it was. A fork of a fork keeps those of its
    source. `notes`: notes of the user, those of its source first.
    """

    step: int
    at: Mapping[str, Any] = field(default_factory=dict)
    change: Mapping[str, Any] = field(default_factory=dict)
    overlays: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "step": self.step,
            "at": dict(self.at),
            "change": dict(self.change),
            "overlays": {str(step): dict(state) for step, state in self.overlays.items()},
            "notes": list(self.notes),
        }

    def describe(self, source: str) -> dict[str, Any]:
        """Return the facts of the fork for its report. `differ`: settings of the plan were changed."""
        return {
            "source": source,
            "step": self.step,
            "at": dict(self.at),
            "change": dict(self.change),
            "differ": bool(self.overlays),
        }

    def extend_goal(self, goal: str) -> str:
        """Return the goal with the notes: every agent reads both."""
        return "\n".join([goal, *self.notes])


def read_fork(text: str | None) -> ForkRecord | None:
    """Read the JSON of `ForkRecord.to_json`; None for a session that is no fork."""
    if text is None:
        return None
    document = json.loads(text)
    return ForkRecord(
        step=document["step"],
        at=document.get("at", {}),
        change=document.get("change", {}),
        overlays={int(step): state for step, state in document.get("overlays", {}).items()},
        notes=tuple(document.get("notes", ())),
    )
