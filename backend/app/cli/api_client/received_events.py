"""Events of a session as values, validated where they are received."""

from datetime import datetime
from typing import Any, Self

from pydantic import Field

from app.cli.api_client.responses import ApiDocument, Json, OpenQuestion


class ReceivedEvent(ApiDocument):
    """`seq` is the cursor; live events have none. `created_at`: the service's time, of events that are kept."""

    kind: str
    seq: int | None = None
    created_at: datetime | None = None


class StepEvent(ReceivedEvent):
    node: str
    duration_ms: float = 0.0


class ActivityEvent(ReceivedEvent):
    """A tool call, progress or an agent's message: the first member that is not empty describes it."""

    summary: str | None = None
    text: str | None = None
    tool: str | None = None


class FitEvent(ReceivedEvent):
    name: str
    status: str
    summary: str = ""


class UnderstandingEvent(ReceivedEvent):
    """The reading of the goal. `confidence`: from 0 to 1."""

    text: str
    confidence: float = 1.0
    alternatives: tuple[str, ...] = ()


class PlanEvent(ReceivedEvent):
    steps: tuple[str, ...]
    notes: tuple[str, ...] = ()


class QuestionEvent(ReceivedEvent):
    question: str
    agent: str = ""
    text: str = ""
    options: tuple[Any, ...] = ()
    default: Any = None
    answer_schema: Json = Field(default_factory=dict)
    about: Json = Field(default_factory=dict)
    """What the question is about: of a plan, its settings and what was understood."""

    @classmethod
    def from_open(cls, question: OpenQuestion) -> Self:
        """Return the event that announced a question which still waits."""
        members = {**question.to_json(), "kind": "clarification_asked", "question": question.key}
        return cls.model_validate(members)

    @property
    def understanding(self) -> str:
        """The reading of the goal that a plan is for; empty for other questions."""
        return str((self.about.get("understood") or {}).get("text", ""))


class AnswerEvent(ReceivedEvent):
    question: str


class BudgetEvent(ReceivedEvent):
    budget: str
    used: float
    limit: float


_EVENT_CLASSES: dict[str, type[ReceivedEvent]] = {
    "understood": UnderstandingEvent,
    "plan_made": PlanEvent,
    "step_started": StepEvent,
    "step_finished": StepEvent,
    **dict.fromkeys(("tool_called", "tool_returned", "progress", "message"), ActivityEvent),
    "fit_finished": FitEvent,
    "clarification_asked": QuestionEvent,
    "clarification_answered": AnswerEvent,
    "budget_warning": BudgetEvent,
}


def parse_event(document: Json) -> ReceivedEvent:
    """Parse an event. An unknown kind becomes a plain ReceivedEvent, which is not shown."""
    return _EVENT_CLASSES.get(str(document.get("kind")), ReceivedEvent).model_validate(document)
