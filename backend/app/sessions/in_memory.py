"""Steps and drives in memory, with the guarantees of the stored ones, for tests and for the baseline of a
benchmark."""

import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from langgraph.errors import GraphInterrupt
from langgraph.types import Interrupt

from app.json_types import JsonValue
from app.sandbox.metering import meter_usage
from app.sessions.drive.journal import JournalDiverged
from app.sessions.events.events import Durable, Live
from app.sessions.events.serialization import dumps, request_digest
from app.sessions.graphs import GraphSpec
from app.sessions.step_scope import ArtifactDraft, Call, CallResult, Fit, FitOutcome, Question, SessionFacts

RunFit = Callable[[Fit], Awaitable[FitOutcome]]


@dataclass
class MemoryJournal:
    """The records of a session. A second drive with the same journal is a replay.

    `answers`: by the question's key (`<step>.<key>`, or the key alone); a question without one interrupts.
    """

    answers: dict[str, JsonValue] = field(default_factory=dict)
    run_fit: RunFit | None = None
    max_calls: Mapping[str, int] = field(default_factory=dict)
    """Kind of call -> number that the budget allows."""
    steps: dict[int, tuple[str, str]] = field(default_factory=dict)
    calls: dict[tuple[int, str], tuple[str, str]] = field(default_factory=dict)
    recorded: list[tuple[Call, CallResult]] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    rounds: dict[str, list[FitOutcome]] = field(default_factory=dict)
    messages: list[tuple[str, str]] = field(default_factory=list)
    artifacts: list[ArtifactDraft] = field(default_factory=list)
    events: list[Durable | Live] = field(default_factory=list)


@dataclass
class MemoryStep:
    """A `StepScope` over a `MemoryJournal`, whose lists receive its effects."""

    session: SessionFacts
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    seq: int = 1
    node: str = "test"
    attempt: int = 1
    started: float = field(default_factory=time.monotonic)

    @property
    def worked_s(self) -> float:
        return time.monotonic() - self.started

    async def recorded(self) -> dict[str, Any] | None:
        entry = self.journal.steps.get(self.seq)
        if entry is None:
            return None
        stored_node, stored_update = entry
        if stored_node != self.node:
            raise JournalDiverged(
                "journal_diverged", f"Step {self.seq} was recorded as {stored_node}, not {self.node}."
            )
        update: dict[str, Any] = json.loads(stored_update)
        return update

    async def commit(self, update: Mapping[str, Any]) -> dict[str, Any]:
        raw = dumps(update, f"update of {self.node}")
        self.journal.steps[self.seq] = (self.node, raw)
        replayed: dict[str, Any] = json.loads(raw)
        return replayed

    async def call(self, call: Call, run: Callable[[], Awaitable[CallResult]]) -> JsonValue:
        place = (self.seq, call.key)
        if place not in self.journal.calls:
            with meter_usage() as meter:
                result = await run()
            result = replace(result, usage={**result.usage, **meter.facts()})
            self.journal.calls[place] = (
                request_digest(call.request),
                dumps(result.value, f"result of {call.name}"),
            )
            self.journal.recorded.append((call, result))
            self.journal.artifacts.extend(result.artifacts)
            self.journal.events.extend(result.events)
        stored_digest, raw = self.journal.calls[place]
        if stored_digest != request_digest(call.request):
            raise JournalDiverged(
                "journal_diverged", f"Call {call.key} of step {self.seq} was recorded with another request."
            )
        # Read back as the stored journal does: a live run equals its replay.
        value: JsonValue = json.loads(raw)
        return value

    async def can_afford(self, kind: str, agent: str) -> bool:
        return not self._used_up(kind) and not self._used_up("tool")

    async def is_wrapping_up(self) -> bool:
        return self._used_up("tool")

    def _used_up(self, kind: str) -> bool:
        count = sum(call.kind == kind for call, _ in self.journal.recorded)
        return count >= self.journal.max_calls.get(kind, count + 1)

    async def ask(self, question: Question) -> JsonValue:
        key = f"{self.seq}.{question.key}"
        if question not in self.journal.questions:
            self.journal.questions.append(question)
        for answer_key in (key, question.key):
            if answer_key in self.journal.answers:
                return self.journal.answers[answer_key]
        if self.session.preferences.get("clarify") == "never":
            self.journal.answers[key] = question.default
            return question.default
        raise GraphInterrupt([Interrupt(value={"question": key})])

    async def fan_out(self, key: str, fits: Sequence[Fit], deadline_s: float) -> list[FitOutcome]:
        key = f"{self.seq}.{key}"
        if key not in self.journal.rounds:
            if self.journal.run_fit is None:
                raise GraphInterrupt([Interrupt(value={"round": key})])
            self.journal.rounds[key] = [await self.journal.run_fit(fit) for fit in fits]
        return self.journal.rounds[key]

    async def wait_for_session(self, session_id: UUID, timeout_s: float, until_question: bool = False) -> None:
        """Return at once: a session in memory is the only one of its journal."""

    async def wait_until(self, wake_time: datetime) -> None:
        """Return at once: nobody else waits for the place of a session in memory."""

    def post_message(self, role: str, text: str) -> None:
        self.journal.messages.append((role, text))

    def save_artifact(self, artifact: ArtifactDraft) -> None:
        self.journal.artifacts.append(artifact)

    def emit(self, event: Durable | Live) -> None:
        self.journal.events.append(event)


@dataclass
class MemoryDrive:
    """Runs a graph from start to end in this process."""

    spec: GraphSpec
    session: SessionFacts
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    started: float = field(default_factory=time.monotonic)

    def begin(self, seq: int, node: str) -> MemoryStep:
        return MemoryStep(self.session, self.journal, seq, node, started=self.started)

    def context(self, step: Any) -> Any:
        return self.spec.make_context(step)

    async def run(self) -> Mapping[str, Any]:
        """Return the final state, with `__interrupt__` if a question has no answer."""
        start = {**self.spec.initial(self.session), "step": 0}
        out: Mapping[str, Any] = await self.spec.graph.ainvoke(start, {"recursion_limit": 1000}, context=self)
        return out
