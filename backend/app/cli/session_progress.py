"""What has happened in a session so far, as its events tell it: plain values for the screen to draw."""

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
class Story:
    """`see` takes the events in order; `question` is the open one."""

    steps: list[StepLine] = field(default_factory=list)
    plan: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    question: Json | None = None
    fits_done: int = 0

    def see(self, event: Json, at_s: float) -> None:
        see = _SEE.get(event["kind"])
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

    def _asked(self, event: Json, at_s: float) -> None:
        self.question = event

    def _answered(self, event: Json, at_s: float) -> None:
        if self.question and self.question["question"] == event["question"]:
            self.question = None

    def _budget_warning(self, event: Json, at_s: float) -> None:
        self.warnings.append(f"{event['budget']}: {event['used']:g} of {event['limit']:g} used")


_SEE = {
    "plan_made": Story._plan_made,
    "step_started": Story._step_started,
    "step_finished": Story._step_finished,
    "tool_called": Story._doing,
    "tool_returned": Story._doing,
    "progress": Story._doing,
    "fit_finished": Story._fit_finished,
    "clarification_asked": Story._asked,
    "clarification_answered": Story._answered,
    "budget_warning": Story._budget_warning,
}
