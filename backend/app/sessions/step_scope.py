"""The interface between a running step and its session: calls, questions, fits, messages, artifacts, events.

Nodes and tools write no rows themselves. They use the scope of their step, which records everything behind the
session's fence, so that a driver without a lease has no effects. A recorded call is replayed, never repeated.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID, uuid4

from app.json_types import JsonValue
from app.sandbox.exchange.contract import Limits
from app.sessions.events.events import Durable, Live


@dataclass(frozen=True)
class SessionFacts:
    """The constant facts of a session."""

    id: UUID
    owner_id: UUID
    goal: str
    preferences: Mapping[str, Any]
    dataset_ids: tuple[UUID, ...]
    seed: int
    created_at: datetime
    datasets_at: datetime | None = None
    """Time whose readings of datasets the session uses, None for that of its creation: a fork reads what its
    source read."""
    fork: Mapping[str, Any] | None = None
    """Of a fork: `ForkRecord.describe`."""


@dataclass(frozen=True)
class ArtifactDraft:
    """An artifact with stored bytes. Its row is written with the call or step that made it."""

    kind: str
    name: str
    media_type: str
    digest: str
    size_bytes: int
    meta: Mapping[str, Any] = field(default_factory=dict)
    id: UUID = field(default_factory=uuid4)


@dataclass(frozen=True)
class CallResult:
    """The result of one call. A replay sees only `value`, which is JSON; the rest is written with it.

    A refusal that the agent can correct is recorded too (`failed=True`), since a replay must repeat it.
    """

    value: JsonValue
    summary: str = ""
    artifacts: Sequence[ArtifactDraft] = ()
    events: Sequence[Durable] = ()
    usage: Mapping[str, float] = field(default_factory=dict)
    failed: bool = False
    answered_by: str | None = None
    """The chat model that answered a chat call: after a fallback it is not the one that was called."""


@dataclass(frozen=True)
class Call:
    """One call. `key` is stable under replay and unique in its step: `chat:3`, `tool:3.0`, `clock:1`."""

    key: str
    kind: str
    """`chat`, `tool` or `choice`."""
    name: str
    agent: str
    request: JsonValue


@dataclass(frozen=True)
class Question:
    """`key` is unique in the step. `answer_schema` is the JSON Schema that an answer must satisfy."""

    key: str
    agent: str
    text: str
    answer_schema: Mapping[str, Any]
    options: Sequence[JsonValue] = ()
    default: JsonValue = None
    kind: str = "clarification"
    about: Mapping[str, JsonValue] = field(default_factory=dict)
    """Of an approval: the tool, its arguments, a preview of its effect, and the risk."""


@dataclass(frozen=True)
class Fit:
    """One candidate of a round: a computation on blobs, by digest.

    `grace_s`: seconds before the round's deadline at which it has to end. The parameter `time_limit_s` of a
    fit that starts late is shortened to that.
    """

    name: str
    function: str
    params: Mapping[str, JsonValue]
    inputs: Mapping[str, str]
    limits: Limits = Limits()
    grace_s: float | None = None


@dataclass(frozen=True)
class FitOutcome:
    """`status` is `done`, `failed` or `left_out`; `files` are blobs by name when done."""

    name: str
    status: str
    value: JsonValue = None
    files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """name -> `{"digest", "size_bytes", "media_type"}`."""
    reason: str = ""
    wall_s: float = 0.0


class StepScope(Protocol):
    """One step of one drive. `attempt` counts the claims of the session (its fence)."""

    session: SessionFacts
    seq: int
    node: str
    attempt: int

    @property
    def worked_s(self) -> float:
        """Seconds since the session's first claim, without the time that it waited for its user. A fork adds
        those of its source up to the point of the fork.

        Differs on a replay: a choice that depends on it has to be a recorded call.
        """
        ...

    async def call(self, call: Call, run: Callable[[], Awaitable[CallResult]]) -> JsonValue:
        """Return the recorded result of this call, or run and record it.

        A recorded call with another request digest ends the session with a readable error. `run` may itself
        ask or fan out: then nothing is recorded until it has the answer or the outcomes.
        """
        ...

    async def can_afford(self, kind: str, agent: str) -> bool:
        """Check if the budget allows one more `chat` or `tool` call. Use it in `run`: a replay costs nothing.

        If the budget is used up, the user is asked (`interrupt()`) to add to it. False: the session has to end
        with its present results.
        """
        ...

    async def is_wrapping_up(self) -> bool:
        """Check if the session has to end without more tool calls. The same when a step runs again."""
        ...

    async def ask(self, question: Question) -> JsonValue:
        """Return the answer, or `interrupt()`: the session waits as `awaiting_user`.

        With the preference `clarify: never` the default is recorded as the answer at once.
        """
        ...

    async def fan_out(self, key: str, fits: Sequence[Fit], deadline_s: float) -> list[FitOutcome]:
        """Return the outcomes of a round in the order of `fits`, or `interrupt()` until its last fit has ended.

        A candidate that has not ended by the deadline is `left_out`.
        """
        ...

    async def wait_for_session(self, session_id: UUID, timeout_s: float, until_question: bool = False) -> None:
        """Return once another session has ended, or was waited for so long; else `interrupt()`.

        Meanwhile this session gives its place up, and its clock stands still. With `until_question` the wait
        ends, too, when the other session asks its user something.
        """
        ...

    async def wait_until(self, wake_time: datetime) -> None:
        """Return once a time has come; else `interrupt()`. It has to be a recorded one, the same on a replay.

        Meanwhile this session gives its place up, and its clock stands still; the sweeper wakes it.
        """
        ...

    def post_message(self, role: str, text: str) -> None:
        """Add a message to the conversation, written with the step's commit."""
        ...

    def save_artifact(self, artifact: ArtifactDraft) -> None:
        """Save an artifact with the step's commit. That of a call belongs into its `CallResult`."""
        ...

    def emit(self, event: Durable | Live) -> None:
        """Publish a live event at once, or a durable one with the step's commit."""
        ...
