"""The scope of one running step: `sessions.step_scope.StepScope` over rows of Postgres."""

import math
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import structlog
from langgraph.errors import GraphBubbleUp
from langgraph.types import interrupt

from app.jobs import advance_job, fit_job
from app.json_types import JsonValue
from app.observability.metrics.sessions import QUESTIONS, STEP_SECONDS
from app.observability.tracing import Facts, Operation, SetAttributes, span
from app.sandbox.metering import meter_usage
from app.sessions.budget_resources import Resource
from app.sessions.drive.drive_state import SessionDrive
from app.sessions.drive.journal import CallEntry, StepEntry, StepOutputs
from app.sessions.events.events import ArtifactSaved, Durable, Live, MessagePosted, StepFinished, StepStarted
from app.sessions.step_scope import ArtifactDraft, Call, CallResult, Fit, FitOutcome, Question
from app.sessions.waiting import questions, rounds, waits

log = structlog.get_logger(__name__)

_MIN_ROUND_S = 1.0
"""Time limit of a round in seconds when the session's budget is nearly used up: a small fit still succeeds."""


class DrivenStep:
    """One step of one drive."""

    def __init__(self, drive: SessionDrive, seq: int, node: str) -> None:
        self.session = drive.lease.facts
        self.seq = seq
        self.node = node
        self.attempt = drive.lease.fence
        self._drive = drive
        self._journal = drive.journal
        self._messages: list[tuple[str, str]] = []
        self._artifacts: list[ArtifactDraft] = []
        self._events: list[Durable] = []
        self._started_at = datetime.now(UTC)
        self._clock = time.perf_counter()

    @property
    def worked_s(self) -> float:
        return self._drive.worked_s

    async def recorded(self) -> dict[str, Any] | None:
        """Return the update of a committed step. Publish the start of a new one and return None."""
        update = await self._journal.step(self.seq, self.node)
        # The start of a recorded step was published when it ran.
        if update is None:
            self._drive.publish_live(StepStarted(step=self.seq, node=self.node, attempt=self.attempt))
        return update

    async def commit(self, update: Mapping[str, Any]) -> dict[str, Any]:
        """Write the step and everything that it produced. Return its update as a replay reads it."""
        finished = StepFinished(step=self.seq, node=self.node, duration_ms=_elapsed_ms(self._clock))
        posted = [MessagePosted(step=self.seq, role=role, text=text) for role, text in self._messages]
        saved = [_artifact_saved(self.seq, artifact) for artifact in self._artifacts]
        # The end of the step last: a watcher who sees it has seen all that the step left.
        outputs = StepOutputs([*self._events, *posted, *saved, finished], self._artifacts, self._messages)
        step = StepEntry(self.seq, self.node, update, self._started_at)
        replayed, write = await self._journal.commit(step, outputs)
        STEP_SECONDS.labels(self.node).observe(time.perf_counter() - self._clock)
        log.info("step_finished", duration_ms=finished.duration_ms)
        self._drive.handle_write(write)
        return replayed

    async def call(self, call: Call, run: Callable[[], Awaitable[CallResult]]) -> JsonValue:
        if recorded := await self._journal.call(self.seq, call):
            return recorded[0]
        started_at, clock = datetime.now(UTC), time.perf_counter()
        with self._trace(call) as set_attributes, meter_usage() as meter:
            result = await run()
            result = replace(result, usage={**result.usage, **meter.facts()})
            set_attributes(_make_span_attributes(call, result))
        # Loaded before the call is a row and added to after:
        # a ledger that is loaded later would count it twice.
        ledger = await self._drive.ledger()
        warnings = ledger.make_warnings(call.kind, result.usage, self._drive.own_worked_s)
        saved = [_artifact_saved(self.seq, artifact) for artifact in result.artifacts]
        completed = CallEntry(self.seq, call, result, started_at, _elapsed_ms(clock))
        outputs = StepOutputs([*saved, *result.events, *warnings], result.artifacts)
        replayed, write = await self._journal.record(completed, outputs)
        ledger.add(call.kind, result.usage)
        self._drive.handle_write(write)
        return replayed

    def _trace(self, call: Call) -> AbstractContextManager[SetAttributes]:
        """Open a span around a call of a chat model or a tool."""
        # A choice takes no time that would be worth a span.
        if call.kind not in SPAN_OPERATIONS:
            return nullcontext(_ignore_attributes)
        facts: Facts = {"labcrew.step": self.seq, "labcrew.node": self.node, "gen_ai.agent.name": call.agent}
        return span(SPAN_OPERATIONS[call.kind], call.name, self.session.id, facts, pause=GraphBubbleUp)

    async def can_afford(self, kind: str, agent: str) -> bool:
        ledger = await self._drive.ledger()
        # Again after each answer: it may add too little, or another resource may be used up as well.
        while not ledger.is_wrapping_up(kind):
            resource = ledger.find_exhausted(kind, self._drive.own_worked_s)
            if resource is None:
                return True
            question = ledger.make_question(resource, agent, self._drive.own_worked_s)
            # Where nobody may add more, asking would only make the session wait.
            answer = await self._answer(question, take_default=ledger.max_increase(resource) == 0)
            ledger.apply_answer(resource, answer)
        return False

    async def is_wrapping_up(self) -> bool:
        return (await self._drive.ledger()).is_wrapping_up("tool")

    async def ask(self, question: Question) -> JsonValue:
        return await self._answer(question, take_default=False)

    async def _answer(self, question: Question, take_default: bool) -> JsonValue:
        never_ask = self.session.preferences.get("clarify") == "never"
        state = await questions.ask(self._journal.writer, self.seq, question, take_default or never_ask)
        if state.write:
            QUESTIONS.labels(question.kind).inc()
            key = f"{self.seq}.{question.key}"
            log.info("question_asked", question=key, question_kind=question.kind, agent=question.agent)
            self._drive.handle_write(state.write)
            if not state.is_answered:
                # A turn that waits for this session may have to pass the question on to its user.
                await self._wake_waiting()
        if state.is_answered:
            return state.answer
        answer: JsonValue = interrupt({"question": question.key})
        return answer

    async def _wake_waiting(self) -> None:
        for waiting_id in await waits.wake_waiting(self._journal.writer):
            self._drive.send(advance_job(waiting_id))

    async def fan_out(self, key: str, fits: Sequence[Fit], deadline_s: float) -> list[FitOutcome]:
        ledger = await self._drive.ledger()
        # A round gets no more seconds than the user granted: a fit cannot ask for more.
        budget_s = ledger.limits.get(Resource.SECONDS, math.inf) - self._drive.own_worked_s
        deadline_s = max(_MIN_ROUND_S, min(deadline_s, budget_s))
        fit_round = await rounds.join_round(self._journal.writer, self.seq, key, fits, deadline_s)
        if fit_round.write:
            # Only who opened the round queues its fits: on a replay they are queued, running or done.
            self._drive.handle_write(fit_round.write)
            for candidate in range(len(fits)):
                self._drive.send(fit_job(self.session.id, fit_round.key, candidate))
        if fit_round.is_open:
            interrupt({"round": fit_round.key})
        return fit_round.outcomes

    async def wait_for_session(self, session_id: UUID, timeout_s: float, until_question: bool = False) -> None:
        wait = await waits.join_wait(self._journal.writer, self.seq, session_id, timeout_s, until_question)
        self._drive.handle_write(wait.write)
        if wait.is_open:
            interrupt({"session": str(session_id)})

    async def wait_until(self, wake_time: datetime) -> None:
        wait = await waits.join_time_wait(self._journal.writer, self.seq, wake_time)
        self._drive.handle_write(wait.write)
        if wait.is_open:
            interrupt({"time": wake_time.isoformat()})

    def post_message(self, role: str, text: str) -> None:
        self._messages.append((role, text))

    def save_artifact(self, artifact: ArtifactDraft) -> None:
        self._artifacts.append(artifact)

    def emit(self, event: Durable | Live) -> None:
        if isinstance(event, Live):
            self._drive.publish_live(event)
        else:
            self._events.append(event)


SPAN_OPERATIONS: Mapping[str, Operation] = {"chat": "chat", "tool": "execute_tool"}
"""Kind of call -> operation name of its span."""


def _ignore_attributes(facts: Facts) -> None:
    pass


def _make_span_attributes(call: Call, result: CallResult) -> Facts:
    usage = result.usage
    if call.kind == "tool":
        return {
            "gen_ai.tool.call.id": call.key,
            "gen_ai.tool.type": "function",
            "labcrew.refused": result.failed,
        }
    model_name = result.answered_by or call.name
    return {
        "gen_ai.provider.name": model_name.partition(":")[0],
        "gen_ai.response.model": model_name,
        "gen_ai.usage.input_tokens": int(usage.get("input_tokens", 0)),
        "gen_ai.usage.output_tokens": int(usage.get("output_tokens", 0)),
    }


def _elapsed_ms(clock: float) -> float:
    return round((time.perf_counter() - clock) * 1000, 3)


def _artifact_saved(seq: int, artifact: ArtifactDraft) -> ArtifactSaved:
    return ArtifactSaved(
        step=seq,
        artifact=str(artifact.id),
        artifact_kind=artifact.kind,
        name=artifact.name,
        media_type=artifact.media_type,
        size_bytes=artifact.size_bytes,
    )
