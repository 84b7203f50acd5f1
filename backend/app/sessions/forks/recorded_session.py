"""A session as it is compared with another one: its recorded steps, artifacts, answers and result. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self
from uuid import UUID

from app.json_types import JsonValue
from app.sessions.fork_record import ForkRecord

HOLDOUT_KIND = "holdout"


@dataclass(frozen=True)
class TimedStep:
    """A committed step. A fork copies its times too: two steps with the same times are the same step."""

    seq: int
    node: str
    update: Mapping[str, Any]
    started_at: str
    committed_at: str

    def is_copy_of(self, other: Self) -> bool:
        own, others = ((step.seq, step.node, step.started_at, step.committed_at) for step in (self, other))
        return own == others


@dataclass(frozen=True)
class StoredArtifact:
    kind: str
    name: str
    digest: str
    seq: int
    meta: Mapping[str, Any]


@dataclass(frozen=True)
class HoldoutFiles:
    """The hold-out, and the outputs of the chosen model for its rows."""

    rows: StoredArtifact
    outputs: StoredArtifact


@dataclass(frozen=True)
class RecordedAnswer:
    key: str
    question: str
    answer: JsonValue

    @property
    def step(self) -> int:
        """The step that asked, with whose number the key begins."""
        return int(self.key.partition(".")[0])


@dataclass(frozen=True)
class RecordedSession:
    """A session and what it recorded. `final_looks`: final evaluations of its family so far.

    `artifacts`: its frames, hold-outs and models, oldest first.
    """

    id: UUID
    goal: str
    name: str
    preferences: Mapping[str, Any]
    seed: int
    status: str
    has_ended: bool
    forked_from: UUID | None
    family_id: UUID
    final_looks: int
    record: ForkRecord | None = None
    steps: Sequence[TimedStep] = ()
    artifacts: Sequence[StoredArtifact] = ()
    answers: Sequence[RecordedAnswer] = ()
    result: Mapping[str, Any] = field(default_factory=dict)

    def find_artifact(self, kind: str, name: str) -> StoredArtifact | None:
        """Return the newest artifact of that kind and name."""
        matches = (stored for stored in reversed(self.artifacts) if (stored.kind, stored.name) == (kind, name))
        return next(matches, None)

    def find_holdout(self, outputs: str) -> HoldoutFiles | None:
        """Return the files of the evaluated hold-out; `outputs`: name of the second one."""
        rows, output = (self.find_artifact(HOLDOUT_KIND, name) for name in (HOLDOUT_KIND, outputs))
        return HoldoutFiles(rows, output) if rows and output else None

    def list_values(self, key: str) -> list[tuple[int, Any]]:
        """List the values of a key of the state with the steps that left them, oldest first.

        An overlay belongs to the step after the one that it lies over, the first one that reads it.
        """
        overlays = self.record.overlays if self.record else {}
        values = [(step.seq, step.update[key]) for step in self.steps if key in step.update]
        values += [(after + 1, state[key]) for after, state in overlays.items() if key in state]
        return sorted(values, key=lambda entry: entry[0])


@dataclass(frozen=True)
class Difference:
    """A difference of two sessions. The steps are those that it came from; None if no step recorded it."""

    kind: str
    name: str
    first: JsonValue
    second: JsonValue
    first_step: int | None = None
    second_step: int | None = None


def find_common_step(first: RecordedSession, second: RecordedSession) -> TimedStep | None:
    """Return the last step that both sessions have in common, by copying; None if there is none."""
    common = None
    # Not strict: one of the two may have gone further.
    for step, other in zip(first.steps, second.steps, strict=False):
        if not step.is_copy_of(other):
            break
        common = step
    return common
