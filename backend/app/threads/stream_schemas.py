"""Bodies of the events of a turn, by the kind of the server-sent event."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from app.sessions.events.events import Event
from app.sessions.schemas import QueuePositionView
from app.threads.schemas import TurnStatus


class _ChatEvent(BaseModel):
    # Open: what a turn of a later version adds is no failure of its reader.
    model_config = ConfigDict(frozen=True, extra="allow")

    created_at: datetime | None = Field(default=None, description="Missing in the first event of a new turn.")
    turn_id: UUID | None = Field(default=None, description="In the stream of a thread, of every event.")


class ChatStatusEvent(_ChatEvent):
    """A stage of the turn. The first one of a new turn names the turn and its place instead."""

    turn_id: UUID
    stage: Literal["received", "queued", "thinking", "executing"] | None = None
    text: str | None = None
    queue: QueuePositionView | None = None
    thread_id: UUID | None = None
    worldline_id: UUID | None = None
    status: TurnStatus | None = None


class ChatTokenEvent(_ChatEvent):
    """The next words of the answer."""

    text: str


class ChatCallEvent(_ChatEvent):
    """A call that begins."""

    id: str
    name: str
    arguments: dict[str, Any]


class ChatCallResultEvent(_ChatEvent):
    """A call that has returned. `summary`: its result, or the reason of a refusal, in a line."""

    id: str
    name: str
    status: Literal["ok", "refused"]
    summary: str
    duration_ms: float


class ChatFileEvent(_ChatEvent):
    """A chart or table of the answer, as an artifact."""

    artifact: UUID
    name: str
    media_type: str
    size_bytes: int


class ChatQuestionEvent(_ChatEvent):
    """A question to the user. An answer names its key `question` and must satisfy `answer_schema`."""

    question: str
    agent: str
    text: str
    question_kind: str = "clarification"
    options: list[Any] = []
    default: Any = None
    answer_schema: dict[str, Any]
    about: dict[str, Any] = {}


class ChatResultEvent(_ChatEvent):
    """The answer. Its parts are those of `GET /turns/{turn_id}`, which lists all that there are."""

    turn_id: UUID


class ChatErrorEvent(_ChatEvent):
    """The failure of the turn, or of its code."""

    code: str
    message: str


class ChatDoneEvent(_ChatEvent):
    """The end of the turn. The last event."""

    turn_id: UUID
    status: Literal["succeeded", "failed", "interrupted", "cancelled"]


class ThreadOpenedEvent(BaseModel):
    """The first event of the stream of a thread: its turns and studies that have not ended."""

    model_config = ConfigDict(frozen=True, extra="allow")

    thread_id: UUID
    turns: list[UUID]
    studies: list[UUID]


class ThreadStudyEvent(BaseModel):
    """An event of a study that a turn of the thread started."""

    model_config = ConfigDict(frozen=True, extra="allow")

    session_id: UUID
    event: Event


CHAT_EVENTS: Mapping[str, type[BaseModel]] = {
    "status": ChatStatusEvent,
    "token": ChatTokenEvent,
    "tool_call": ChatCallEvent,
    "tool_result": ChatCallResultEvent,
    "chart": ChatFileEvent,
    "table": ChatFileEvent,
    "clarification": ChatQuestionEvent,
    "approval": ChatQuestionEvent,
    "result": ChatResultEvent,
    "error": ChatErrorEvent,
    "done": ChatDoneEvent,
}
"""Models of the events of a turn, by their kind."""
THREAD_EVENTS: Mapping[str, type[BaseModel]] = {
    "thread": ThreadOpenedEvent,
    "study": ThreadStudyEvent,
    **CHAT_EVENTS,
}
"""Models of the events of a thread, by their kind."""
