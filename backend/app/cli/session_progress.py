"""Progress of a session, accumulated from its events, as plain values for the screen."""

from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass
class StepLine:
    """One step: `ended_s` is None while it runs. Times are seconds since the watcher began."""

    node: str
    began_s: float
    ended_s: float | None = None
    doing: str = ""

    def elapsed_s(self, now_s: float) -> float:
        return (now_s if self.ended_s is None else self.ended_s) - self.began_s


@dataclass
class SessionProgress:
    """`see` takes the events in order; `question` is the open one."""

    steps: list[StepLine] = field(default_factory=list)
    plan: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    question: Json | None = None
    fits_done: int = 0

    def apply(self, event: Json, at_s: float) -> None:
        see = _EVENT_HANDLERS.get(event["kind"])
        if see:
            see(self, event, at_s)

    @property
    def running(self) -> StepLine | None:
        return self.steps[-1] if self.steps and self.steps[-1].ended_s is None else None

    def _step_started(self, event: Json, at_s: float) -> None:
        running = self.running
        if running and running.node == event["node"]:
            return  # another attempt, or the step goes on after it waited
        self.steps.append(StepLine(event["node"], at_s))

    def _step_finished(self, event: Json, at_s: float) -> None:
        if self.running is None or self.running.node != event["node"]:
            self.steps.append(StepLine(event["node"], at_s - event["duration_ms"] / 1000))
        self.steps[-1].ended_s = at_s

    def _doing(self, event: Json, at_s: float) -> None:
        if self.running:
            self.running.doing = event.get("summary") or event.get("text") or event.get("tool") or ""

    def _fit_finished(self, event: Json, at_s: float) -> None:
        self.fits_done += 1
        if self.running:
            self.running.doing = event.get("summary") or f"{event['name']}: {event['status']}"

    def _plan_made(self, event: Json, at_s: float) -> None:
        self.plan = list(event["steps"])
        self.notes = list(event.get("notes") or [])

    def _question_opened(self, event: Json, at_s: float) -> None:
        self.question = event

    def _question_closed(self, event: Json, at_s: float) -> None:
        if self.question and self.question["question"] == event["question"]:
            self.question = None

    def _budget_warning(self, event: Json, at_s: float) -> None:
        self.warnings.append(f"{event['budget']}: {event['used']:g} of {event['limit']:g} used")


_EVENT_HANDLERS = {
    "plan_made": SessionProgress._plan_made,
    "step_started": SessionProgress._step_started,
    "step_finished": SessionProgress._step_finished,
    "tool_called": SessionProgress._doing,
    "tool_returned": SessionProgress._doing,
    "progress": SessionProgress._doing,
    "fit_finished": SessionProgress._fit_finished,
    "clarification_asked": SessionProgress._question_opened,
    "clarification_answered": SessionProgress._question_closed,
    "budget_warning": SessionProgress._budget_warning,
}
