"""The scope of one running step: what `sessions.scope.StepScope` promises, over rows."""

import math
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Protocol

from langgraph.errors import GraphBubbleUp
from langgraph.types import interrupt

from app.jobs import Job, fit
from app.json_types import JsonValue
from app.observability.metrics.sessions import QUESTIONS, STEP_SECONDS
from app.observability.tracing import Facts, SetAttributes, span
from app.sandbox.metering import meter_usage
from app.sessions.budget import Ledger, Resource
from app.sessions.drive.journal import CallDone, Journal, StepDone, StepOutputs
from app.sessions.events.events import ArtifactSaved, Durable, Live, MessagePosted, StepFinished, StepStarted
from app.sessions.fenced_writer import WriteResult
from app.sessions.step_scope import ArtifactDraft, Call, Fit, FitOutcome, Question, Recorded, SessionFacts
from app.sessions.waiting import questions, rounds

_MIN_ROUND_S = 1.0


class Driver(Protocol):
    """What a step needs of the drive that it belongs to."""

    journal: Journal

    @property
    def worked_s(self) -> float: ...

    async def ledger(self) -> Ledger: ...

    def notice(self, written: WriteResult) -> None: ...

    def show(self, event: Live) -> None: ...

    def send(self, job: Job) -> None: ...


class DrivenStep:
    """One step of one drive."""

    def __init__(self, driver: Driver, session: SessionFacts, seq: int, node: str, attempt: int) -> None:
        self.session = session
        self.seq = seq
        self.node = node
        self.attempt = attempt
        self._driver = driver
        self._journal = driver.journal
        self._messages: list[tuple[str, str]] = []
        self._artifacts: list[ArtifactDraft] = []
        self._events: list[Durable] = []
        self._started_at = datetime.now(UTC)
        self._clock = time.perf_counter()

    @property
    def worked_s(self) -> float:
        return self._driver.worked_s

    async def recorded(self) -> dict[str, Any] | None:
        """The update of a step that was committed before; else watchers are told that it starts."""
        update = await self._journal.step(self.seq, self.node)
        if update is None:
            self._driver.show(StepStarted(step=self.seq, node=self.node, attempt=self.attempt))
        return update

    async def commit(self, update: Mapping[str, Any]) -> dict[str, Any]:
        finished = StepFinished(step=self.seq, node=self.node, duration_ms=_since_ms(self._clock))
        posted = [MessagePosted(step=self.seq, role=role, text=text) for role, text in self._messages]
        saved = [_saved(self.seq, artifact) for artifact in self._artifacts]
        leavings = StepOutputs([*self._events, *posted, *saved, finished], self._artifacts, self._messages)
        done = StepDone(self.seq, self.node, update, self._started_at)
        replayed, written = await self._journal.commit(done, leavings)
        STEP_SECONDS.labels(self.node).observe(time.perf_counter() - self._clock)
        self._driver.notice(written)
        return replayed

    async def call(self, call: Call, run: Callable[[], Awaitable[Recorded]]) -> JsonValue:
        if recorded := await self._journal.call(self.seq, call):
            return recorded[0]
        started_at, clock = datetime.now(UTC), time.perf_counter()
        with self._traced(call) as tell, meter_usage() as meter:
            result = await run()
            result = replace(result, usage={**result.usage, **meter.facts()})
            tell(_traced_facts(call, result))
        ledger = await self._driver.ledger()
        warnings = ledger.warnings(call.kind, result.usage, self.worked_s)
        saved = [_saved(self.seq, artifact) for artifact in result.artifacts]
        done = CallDone(self.seq, call, result, started_at, _since_ms(clock))
        leavings = StepOutputs([*saved, *result.events, *warnings], result.artifacts)
        value, written = await self._journal.record(done, leavings)
        ledger.add(call.kind, result.usage)
        self._driver.notice(written)
        return value

    def _traced(self, call: Call) -> AbstractContextManager[SetAttributes]:
        """A span around a call of a chat model or a tool."""
        if call.kind not in OPERATIONS:
            return nullcontext(_tell_nobody)
        facts: Facts = {"labcrew.step": self.seq, "labcrew.node": self.node, "gen_ai.agent.name": call.agent}
        return span(OPERATIONS[call.kind], call.name, self.session.id, facts, pause=GraphBubbleUp)

    async def afford(self, kind: str, agent: str) -> bool:
        ledger = await self._driver.ledger()
        while not ledger.is_wrapping_up(kind):
            resource = ledger.used_up(kind, self.worked_s)
            if resource is None:
                return True
            question = ledger.question(resource, agent, self.worked_s)
            answer = await self._answer(question, take_default=ledger.room(resource) == 0)
            ledger.settle(resource, answer)
        return False

    async def wrapping_up(self) -> bool:
        return (await self._driver.ledger()).is_wrapping_up("tool")

    async def ask(self, question: Question) -> JsonValue:
        return await self._answer(question, take_default=False)

    async def _answer(self, question: Question, take_default: bool) -> JsonValue:
        never = self.session.preferences.get("clarify") == "never"
        asked = await questions.ask(self._journal.hold, self.seq, question, take_default or never)
        if asked.told:
            QUESTIONS.labels(question.kind).inc()
            self._driver.notice(asked.told)
        if asked.answered:
            return asked.answer
        answer: JsonValue = interrupt({"question": question.key})
        return answer

    async def fan_out(self, key: str, fits: Sequence[Fit], deadline_s: float) -> list[FitOutcome]:
        ledger = await self._driver.ledger()
        left_s = ledger.limits.get(Resource.SECONDS, math.inf) - self.worked_s
        deadline_s = max(_MIN_ROUND_S, min(deadline_s, left_s))
        joined = await rounds.join(self._journal.hold, self.seq, key, fits, deadline_s)
        if joined.opened:
            self._driver.notice(joined.opened)
            for candidate in range(len(fits)):
                self._driver.send(fit(self.session.id, joined.key, candidate))
        if joined.open:
            interrupt({"round": joined.key})
        return joined.outcomes

    def say(self, role: str, text: str) -> None:
        self._messages.append((role, text))

    def keep(self, artifact: ArtifactDraft) -> None:
        self._artifacts.append(artifact)

    def tell(self, event: Durable | Live) -> None:
        if isinstance(event, Live):
            self._driver.show(event)
        else:
            self._events.append(event)


OPERATIONS: Mapping[str, str] = {"chat": "chat", "tool": "execute_tool"}
"""Kind of call -> the operation that its span is of."""


def _tell_nobody(facts: Facts) -> None:
    pass


def _traced_facts(call: Call, result: Recorded) -> Facts:
    used = result.usage
    if call.kind == "tool":
        return {
            "gen_ai.tool.call.id": call.key,
            "gen_ai.tool.type": "function",
            "labcrew.refused": result.failed,
        }
    answered_by = result.by or call.name
    return {
        "gen_ai.provider.name": answered_by.partition(":")[0],
        "gen_ai.response.model": answered_by,
        "gen_ai.usage.input_tokens": int(used.get("input_tokens", 0)),
        "gen_ai.usage.output_tokens": int(used.get("output_tokens", 0)),
    }


def _since_ms(clock: float) -> float:
    return round((time.perf_counter() - clock) * 1000, 3)


def _saved(seq: int, artifact: ArtifactDraft) -> ArtifactSaved:
    return ArtifactSaved(
        step=seq,
        artifact=str(artifact.id),
        artifact_kind=artifact.kind,
        name=artifact.name,
        media_type=artifact.media_type,
        size_bytes=artifact.size_bytes,
    )
