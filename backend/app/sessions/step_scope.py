"""What a running step may do to the world: call once and replay for ever, ask, fan out, tell.

A node or a tool never writes a row itself. It asks its step's scope, which records what happened behind the
session's fence: a driver that lost its lease has no effects.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID, uuid4

from app.json_types import JsonValue
from app.sandbox.contract import Limits
from app.sessions.events.events import Durable, Live


@dataclass(frozen=True)
class SessionFacts:
    """What does not change while a session runs."""

    id: UUID
    owner_id: UUID
    goal: str
    preferences: Mapping[str, Any]
    dataset_ids: tuple[UUID, ...]
    seed: int
    created_at: datetime


@dataclass(frozen=True)
class ArtifactDraft:
    """An artifact whose bytes are stored and whose row is written with the call or step that made it."""

    kind: str
    name: str
    media_type: str
    digest: str
    size_bytes: int
    meta: Mapping[str, Any] = field(default_factory=dict)
    id: UUID = field(default_factory=uuid4)


@dataclass(frozen=True)
class CallResult:
    """What one call came to. `value` is JSON and all that a replay sees; the rest is written with it.

    A refusal that the agent can correct is recorded too (`failed=True`): replay must repeat it.
    """

    value: JsonValue
    summary: str = ""
    artifacts: Sequence[ArtifactDraft] = ()
    events: Sequence[Durable] = ()
    usage: Mapping[str, float] = field(default_factory=dict)
    failed: bool = False
    answered_by: str | None = None
    """Who answered, where another than the one that was asked may have: the chat model of a chat call."""


@dataclass(frozen=True)
class Call:
    """Names one call. `key` is stable under replay and unique in its step: `chat:3`, `tool:3.0`, `clock:1`."""

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
    """What an approval is of: the tool, its arguments, what the call would do, the risk."""


@dataclass(frozen=True)
class Fit:
    """One candidate of a round: a computation on blobs, by digest.

    `grace_s`: how long before the round's deadline it is meant to end. A fit that starts so late that its
    `time_limit_s`, a parameter, would take it further is given less.
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
        """Seconds since the session's first claim, without the time that it waited for its user.

        It differs on a replay: what is chosen by it belongs into a recorded call.
        """
        ...

    async def call(self, call: Call, run: Callable[[], Awaitable[CallResult]]) -> JsonValue:
        """The recorded result of this call, or run it and record it.

        A recorded call whose request digest differs ends the session with a readable error. `run` may
        itself ask or fan out: then nothing is recorded until it has what it waited for.
        """
        ...

    async def can_afford(self, kind: str, agent: str) -> bool:
        """May one more `chat` or `tool` call be made? Ask inside `run`: a recorded call is never asked about.

        When the budget is used up the user is asked (`interrupt()`) to add to it. False: the session is to end
        with what there is.
        """
        ...

    async def is_wrapping_up(self) -> bool:
        """Was it told to end without more work of its tools? Stays the same while a step runs again."""
        ...

    async def ask(self, question: Question) -> JsonValue:
        """The answer, or `interrupt()`: the session waits as `awaiting_user`.

        With the preference `clarify: never` the default is recorded as the answer at once.
        """
        ...

    async def fan_out(self, key: str, fits: Sequence[Fit], deadline_s: float) -> list[FitOutcome]:
        """The outcomes of a round in the order given, or `interrupt()` until its last fit is in.

        A candidate that has not come when the deadline has passed is `left_out`.
        """
        ...

    def post_message(self, role: str, text: str) -> None:
        """A message of the conversation, written with the step's commit."""
        ...

    def save_artifact(self, artifact: ArtifactDraft) -> None:
        """An artifact written with the step's commit (one made by a call goes into its `Recorded`)."""
        ...

    def emit(self, event: Durable | Live) -> None:
        """A live event goes out now; a durable one with the step's commit."""
        ...
