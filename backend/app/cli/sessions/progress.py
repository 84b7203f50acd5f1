"""Progress of a session, accumulated from its events, as plain values for the screen."""

from dataclasses import dataclass, field
from datetime import datetime

from app.cli.api_client.received_events import (
    ActivityEvent,
    AnswerEvent,
    BudgetEvent,
    FitEvent,
    PlanEvent,
    QuestionEvent,
    ReceivedEvent,
    StepEvent,
    UnderstandingEvent,
)


@dataclass
class StepLine:
    """One step: `ended_s` is None while it runs. Times are seconds since the display began."""

    node: str
    began_s: float
    ended_s: float | None = None
    doing: str = ""

    def elapsed_s(self, now_s: float) -> float:
        return (now_s if self.ended_s is None else self.ended_s) - self.began_s


@dataclass
class SessionProgress:
    """`apply` takes the events in order; `question` is the open one."""

    steps: list[StepLine] = field(default_factory=list)
    understanding: UnderstandingEvent | None = None
    plan: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    question: QuestionEvent | None = None
    fits_done: int = 0
    _unseen: str = ""
    """Activity of a step whose start was not seen: starts are live events, and others are read again."""
    _boundary_at: datetime | None = None
    """Time of the service at which the step before ended."""

    def apply(self, event: ReceivedEvent, at_s: float) -> None:
        match event:
            case UnderstandingEvent() | PlanEvent():
                self._show_plan(event)
            case StepEvent(kind="step_started"):
                self._start_step(event, at_s)
            case StepEvent():
                self._finish_step(event, at_s)
            case ActivityEvent():
                self._show_activity(event.summary or event.text or event.tool or "", event.kind == "message")
            case FitEvent():
                self.fits_done += 1
                self._show_activity(event.summary or f"{event.name}: {event.status}")
            case QuestionEvent():
                self.question = event
            case AnswerEvent():
                # Events are read again after a reconnection: an old answer must not close a newer question.
                if self.question and self.question.question == event.question:
                    self.question = None
            case BudgetEvent():
                self.warnings.append(f"{event.budget}: {event.used:g} of {event.limit:g} used")

    @property
    def running(self) -> StepLine | None:
        return self.steps[-1] if self.steps and self.steps[-1].ended_s is None else None

    def _show_plan(self, event: UnderstandingEvent | PlanEvent) -> None:
        if isinstance(event, PlanEvent):
            self.plan, self.notes = list(event.steps), list(event.notes)
        else:
            self.understanding = event

    def _start_step(self, event: StepEvent, at_s: float) -> None:
        running = self.running
        if running and running.node == event.node:
            return  # a further attempt, or the step resumes after a wait
        self.steps.append(StepLine(event.node, at_s))

    def _finish_step(self, event: StepEvent, at_s: float) -> None:
        if self.running is None or self.running.node != event.node:
            # The start is a live event, which a client that reconnected may have missed.
            self.steps.append(StepLine(event.node, at_s - self._unseen_duration_s(event), doing=self._unseen))
        self.steps[-1].ended_s = at_s
        self._unseen, self._boundary_at = "", event.created_at

    def _unseen_duration_s(self, event: StepEvent) -> float:
        """Seconds since the step before, its fits included; `duration_ms` is the last drive of a step."""
        if self._boundary_at is None or event.created_at is None:
            return event.duration_ms / 1000
        return (event.created_at - self._boundary_at).total_seconds()

    def _show_activity(self, text: str, is_message: bool = False) -> None:
        """Show what the running step does. A message ends the step, and says why it called no tool, if so."""
        doing = self.running.doing if self.running else self._unseen
        if is_message and doing:
            return
        if self.running:
            self.running.doing = text
        else:
            self._unseen = text
