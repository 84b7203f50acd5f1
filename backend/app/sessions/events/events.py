"""The events of a session, as a closed union.

Durable events are rows, numbered per session without gaps by `UPDATE sessions SET event_seq = event_seq + n`
in the transaction that writes them: a sequence would let a reader see 2 before 1 is committed. Live events
(progress, tokens, ...) are published only: they carry step and attempt, and have no cursor.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

_RECEIVED_AT = {"type": "string", "format": "date-time", "title": "Created At"}
_NUMBER = {"type": "integer", "title": "Seq", "description": "Number of the event: the cursor of the streams."}


def _describe_live(schema: dict[str, Any]) -> None:
    """Describe an event as clients receive it: with its time, and with fields that later versions add."""
    schema.pop("additionalProperties", None)
    schema["properties"]["created_at"] = _RECEIVED_AT
    # Fields with a default are not required: events that older versions stored may lack them.
    schema["required"] = [*dict.fromkeys(["kind", *schema.get("required", []), "created_at"])]


def _describe_durable(schema: dict[str, Any]) -> None:
    """Describe a durable event as clients receive it: with its time and its number."""
    _describe_live(schema)
    schema["properties"]["seq"] = _NUMBER
    schema["required"].append("seq")


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_extra=_describe_durable)


class _LiveEvent(_Event):
    """An event that is published only, and has no number."""

    model_config = ConfigDict(json_schema_extra=_describe_live)


class SessionStarted(_Event):
    kind: Literal["session_started"] = "session_started"
    goal: str


class SessionForked(_Event):
    """The session began as a copy of `source`. The first event of a fork.

    Copied steps, messages and artifacts have no events: they are read by GET.
    """

    kind: Literal["session_forked"] = "session_forked"
    source: str
    """Id of the session that was forked."""
    at: dict[str, Any]
    """`{"step": n}` or `{"question": key}`."""
    change: dict[str, Any]
    """Empty for a fork without a change."""
    steps: int
    """Number of copied steps."""
    notes: list[str] = []
    """Sentences about parts of the change that have no effect, or another than expected."""


class SessionPaused(_Event):
    """The user paused the session: the running step and running fits end, and nothing else begins."""

    kind: Literal["session_paused"] = "session_paused"


class SessionResumed(_Event):
    """The user let a paused session go on."""

    kind: Literal["session_resumed"] = "session_resumed"


class SessionQueued(_LiveEvent):
    """Live: the session waits in the admission queue. Repeated whenever its place changes."""

    kind: Literal["session_queued"] = "session_queued"
    position: int
    """1 is next."""
    length: int


class GoalUnderstood(_Event):
    """The reading of the goal, before time is spent on it. Cancel the session if it is not what was meant."""

    kind: Literal["understood"] = "understood"
    text: str
    target: str | None = None
    """The column to be predicted; None for a question."""
    tables: list[str] = []
    examples: list[str] = []
    """Values of the target."""
    confidence: float
    """Estimated probability that this is what the user means, from 0 to 1."""
    alternatives: list[str] = []
    """Other columns that the goal could mean."""


class PlanMade(_Event):
    kind: Literal["plan_made"] = "plan_made"
    steps: list[str]
    """One readable line each."""
    notes: list[str] = []
    """Parts of the goal that were left out or interpreted, a sentence each."""
    facts: dict[str, Any] = {}


class StepStarted(_LiveEvent):
    kind: Literal["step_started"] = "step_started"
    step: int
    node: str
    attempt: int


class StepFinished(_Event):
    kind: Literal["step_finished"] = "step_finished"
    step: int
    node: str
    duration_ms: float


class ToolCalled(_LiveEvent):
    """Live: a crash may interrupt the call, which is then made again.

    Published again from time to time while the call runs; a stream that had it does not get it twice.
    """

    kind: Literal["tool_called"] = "tool_called"
    step: int
    agent: str
    tool: str
    call: str
    arguments: dict[str, Any]
    attempt: int


class ToolReturned(_Event):
    kind: Literal["tool_returned"] = "tool_returned"
    step: int
    agent: str
    tool: str
    call: str
    summary: str
    """The result or the reason of a refusal, in one readable line."""
    failed: bool = False
    duration_ms: float


class MessagePosted(_Event):
    kind: Literal["message"] = "message"
    step: int
    role: str
    text: str


class ClarificationAsked(_Event):
    """`question` is the key to answer with; `answer_schema` is the JSON Schema of the answer."""

    kind: Literal["clarification_asked"] = "clarification_asked"
    question: str
    question_kind: str = "clarification"
    agent: str
    text: str
    options: list[Any] = []
    default: Any = None
    answer_schema: dict[str, Any]
    about: dict[str, Any] = {}
    """Of an approval: `tool`, `arguments`, `preview` (a unified diff, where text changes) and `risk`."""


class ClarificationAnswered(_Event):
    kind: Literal["clarification_answered"] = "clarification_answered"
    question: str
    answer: Any
    by: Literal["user", "default"] = "user"


class ArtifactSaved(_Event):
    kind: Literal["artifact_saved"] = "artifact_saved"
    step: int
    artifact: str
    """The artifact's id."""
    artifact_kind: str
    name: str
    media_type: str
    size_bytes: int


class FitFinished(_Event):
    kind: Literal["fit_finished"] = "fit_finished"
    round: str
    candidate: int
    name: str
    status: str
    summary: str = ""


class BudgetWarning(_Event):
    kind: Literal["budget_warning"] = "budget_warning"
    budget: str
    used: float
    limit: float


class SessionFinished(_Event):
    kind: Literal["session_finished"] = "session_finished"
    result: dict[str, Any]


class SessionFailed(_Event):
    kind: Literal["session_failed"] = "session_failed"
    code: str
    detail: str


class SessionCancelled(_Event):
    kind: Literal["session_cancelled"] = "session_cancelled"


class Progress(_LiveEvent):
    """Live."""

    kind: Literal["progress"] = "progress"
    step: int
    attempt: int
    text: str
    fraction: float | None = None


class TokenStreamed(_LiveEvent):
    """Live: a part of a chat model's answer. From time to time all of it so far comes again, with `start` 0.

    `answer`: number of the answer among those of its agent in this attempt. `start`: place of the part's first
    character in the answer.
    """

    kind: Literal["token"] = "token"
    step: int
    attempt: int
    agent: str
    answer: int
    start: int
    text: str


Durable = (
    SessionStarted
    | SessionForked
    | SessionPaused
    | SessionResumed
    | GoalUnderstood
    | PlanMade
    | StepFinished
    | ToolReturned
    | MessagePosted
    | ClarificationAsked
    | ClarificationAnswered
    | ArtifactSaved
    | FitFinished
    | BudgetWarning
    | SessionFinished
    | SessionFailed
    | SessionCancelled
)
Live = SessionQueued | StepStarted | ToolCalled | Progress | TokenStreamed
Event = Annotated[Durable | Live, Field(discriminator="kind")]

TERMINAL = (SessionFinished, SessionFailed, SessionCancelled)
