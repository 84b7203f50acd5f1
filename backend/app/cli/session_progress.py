"""Progress of a session, accumulated from its events, as plain values for the screen."""

from dataclasses import dataclass, field

from app.cli.responses import (
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
            self.steps.append(StepLine(event.node, at_s - event.duration_ms / 1000))
        self.steps[-1].ended_s = at_s

    def _show_activity(self, text: str, is_message: bool = False) -> None:
        """Show what the running step does. A message ends the step, and says why it called no tool, if so."""
        if self.running and not (is_message and self.running.doing):
            self.running.doing = text
