"""The source of a fork: what it has recorded, and the points at which it can be forked. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.errors import Conflict, InvalidInput, LabError, NotFound
from app.json_types import JsonValue
from app.sessions.fork_record import ForkRecord
from app.sessions.forks.schemas import ForkChange, ForkPoint
from app.sessions.lifecycle import SessionStatus
from app.sessions.schemas import CHAT_GRAPH, JOB_GRAPH, RUN_GRAPH, WORKFLOW_GRAPH


@dataclass(frozen=True)
class RecordedStep:
    seq: int
    node: str
    update: Mapping[str, Any]


@dataclass(frozen=True)
class SourceQuestion:
    """`body`: the stored question, with its `answer_schema`."""

    key: str
    kind: str
    body: Mapping[str, Any]


@dataclass(frozen=True)
class SourceDataset:
    """A dataset of the session that still exists."""

    name: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class ForkSource:
    """A session as a fork at `step` finds it.

    `steps`: those before the point, in order. `record`: set if the session is a fork itself.
    `is_runnable`: a live worker runs its version of the graph, or no worker is known.
    """

    graph: str
    goal: str
    preferences: Mapping[str, Any]
    status: SessionStatus
    step: int
    last_seq: int
    has_ended: bool
    is_forgotten: bool = False
    is_runnable: bool = True
    steps: Sequence[RecordedStep] = ()
    datasets: Sequence[SourceDataset] = ()
    question: SourceQuestion | None = None
    record: ForkRecord | None = None

    @property
    def nodes(self) -> list[str]:
        """The nodes of the copied steps, in order."""
        return [step.node for step in self.steps]

    @property
    def overlays(self) -> dict[int, Mapping[str, Any]]:
        """The overlays of a source that is a fork, those of copied steps only."""
        overlays = self.record.overlays if self.record else {}
        return {step: state for step, state in overlays.items() if step < self.step}

    @property
    def state(self) -> dict[str, Any]:
        """The state of the graph at the point: the updates of the copied steps, folded."""
        state: dict[str, Any] = {}
        for step in self.steps:
            state |= {**step.update, **self.overlays.get(step.seq, {})}
        return state


@dataclass(frozen=True)
class ForkEffect:
    """The effect of a change. `overlay`: keys of the state that differ from the point on.

    `notes`: sentences for the user about what has no effect, or another than expected.
    """

    preferences: Mapping[str, Any]
    overlay: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ForkRules:
    """The parts of a fork that its graph decides.

    `decide_effect`: the effect of a change at a step; raises LabError with the reason and what would do.
    `reads_datasets`: whether a step that the fork runs itself may read the datasets of the session.
    """

    decide_effect: Callable[[ForkSource, ForkChange], ForkEffect]
    reads_datasets: Callable[[ForkSource], bool]


def find_step(at: ForkPoint) -> int:
    """Return the step of a point. The key of a question begins with its step. Raises NotFound."""
    if at.step is not None:
        return at.step
    number = (at.question or "").partition(".")[0]
    # At most four digits, as many as the largest step has: a longer number would not fit the database's type.
    if not number.isascii() or not number.isdigit() or len(number) > 4:
        raise make_question_not_found(at.question or "")
    return int(number)


def make_question_not_found(key: str) -> NotFound:
    return NotFound("question_not_found", f"This session has no question {key!r}.")


def check_point(source: ForkSource, at: ForkPoint, change: ForkChange) -> None:
    """Check that the session can be forked at the point with that kind of change.

    Raises Conflict, NotFound and InvalidInput, each with the reason and what would do.
    """
    refusal = _refuse_source(source) or _refuse_point(source, at) or _refuse_pair(source, at, change)
    if refusal:
        raise refusal


def _refuse_source(source: ForkSource) -> LabError | None:
    if source.graph in (RUN_GRAPH, WORKFLOW_GRAPH):
        return Conflict(
            "run_not_forkable", "A run is a single program: start another run instead of forking it."
        )
    if source.graph == JOB_GRAPH:
        return Conflict(
            "job_not_forkable", "A job is a single message: send another one instead of forking it."
        )
    if source.graph == CHAT_GRAPH:
        return Conflict("turn_not_forkable", "A turn is a message: branch its conversation instead.")
    if source.is_forgotten:
        return Conflict(
            "journal_expired",
            "The journal of this session was deleted after its retention time, so there is nothing to copy. "
            "Start a new session with the same goal.",
        )
    if not source.is_runnable:
        return Conflict(
            "graph_version",
            "This session was started with a version of the graph that no worker of this service runs now. "
            "Start a new session with the same goal.",
        )
    return None


def _refuse_point(source: ForkSource, at: ForkPoint) -> LabError | None:
    # One that has not completed may be forked at its open step; a completed one has none.
    last = source.last_seq if source.status is SessionStatus.COMPLETED else source.last_seq + 1
    if at.question is not None:
        return make_question_not_found(at.question) if source.question is None else None
    if source.step > last:
        ended = "It has ended, so nothing runs after its last step. " if last == source.last_seq else ""
        return InvalidInput(
            "step_not_recorded",
            f"This session has recorded {source.last_seq} steps. {ended}Fork at a step from 1 to {last}.",
            field="at.step",
            limit=last,
        )
    return None


def _refuse_pair(source: ForkSource, at: ForkPoint, change: ForkChange) -> LabError | None:
    if at.question is not None:
        return _refuse_at_question(source, change)
    if change.has_answer:
        return InvalidInput(
            "answer_needs_question",
            "An answer belongs to a question: fork at that question, `at: {question: ...}`.",
            field="change.answer",
        )
    record = source.record
    if record and record.change and source.step < record.step:
        return Conflict(
            "step_of_source",
            f"The steps of this fork before step {record.step} are copies, from before its own change. Fork it "
            f"at step {record.step} or later, or fork the session that it came from.",
        )
    return None


def _refuse_at_question(source: ForkSource, change: ForkChange) -> LabError | None:
    others = [name for name in ("settings", "preferences", "note") if name in change.model_fields_set]
    if others:
        return InvalidInput(
            "only_answer_at_question",
            f"At a question only its answer can change, because the step that asked goes on: send {others[0]} "
            f"in a fork at step {source.step}.",
            field=f"change.{others[0]}",
        )
    if not change.has_answer:
        return InvalidInput(
            "answer_missing",
            f"A fork at a question needs `change.answer`. To be asked again, fork at step {source.step}.",
            field="change.answer",
        )
    if source.question and source.question.kind == "budget":
        return InvalidInput(
            "budget_question",
            "A fork has a budget of its own, so an answer about the budget has no meaning there. Fork at step "
            f"{source.step} with `preferences.budget`.",
            field="at.question",
        )
    return None


def question_schema(source: ForkSource) -> Mapping[str, JsonValue]:
    """Return the JSON Schema of the answers to the question of the point."""
    schema: Mapping[str, JsonValue] = source.question.body["answer_schema"] if source.question else {}
    return schema
