"""The scope of an agent that works inside the step of a node."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from app.json_types import JsonValue
from app.sessions.events.events import Durable, Live
from app.sessions.step_scope import (
    ArtifactDraft,
    Call,
    CallResult,
    Fit,
    FitOutcome,
    Question,
    SessionFacts,
    StepScope,
)
from app.tools.queries.chart_drawing import CHART


@dataclass
class NodeStep:
    """The step of a run as its agent sees it: another message, and keys and names of its own.

    `session`: the facts of the run, whose goal is the message. `node_id`, `node_attempt`: what the agent works
    for. A further attempt repeats no recorded call, and a table that the agent makes is not taken for that of
    another node.
    """

    step: StepScope
    session: SessionFacts
    node_id: str
    node_attempt: int

    def __post_init__(self) -> None:
        self.seq, self.node, self.attempt = self.step.seq, self.step.node, self.step.attempt

    @property
    def worked_s(self) -> float:
        return self.step.worked_s

    async def call(self, call: Call, run: Callable[[], Awaitable[CallResult]]) -> JsonValue:
        async def run_and_rename() -> CallResult:
            result = await run()
            return replace(result, artifacts=[self._rename(artifact) for artifact in result.artifacts])

        return await self.step.call(replace(call, key=self._make_key(call.key)), run_and_rename)

    async def can_afford(self, kind: str, agent: str) -> bool:
        return await self.step.can_afford(kind, agent)

    async def is_wrapping_up(self) -> bool:
        return await self.step.is_wrapping_up()

    async def ask(self, question: Question) -> JsonValue:
        return await self.step.ask(replace(question, key=self._make_key(question.key)))

    async def fan_out(self, key: str, fits: Sequence[Fit], deadline_s: float) -> list[FitOutcome]:
        return await self.step.fan_out(self._make_key(key), fits, deadline_s)

    async def wait_for_session(self, session_id: UUID, timeout_s: float, until_question: bool = False) -> None:
        await self.step.wait_for_session(session_id, timeout_s, until_question)

    async def wait_until(self, wake_time: datetime) -> None:
        await self.step.wait_until(wake_time)

    def post_message(self, role: str, text: str) -> None:
        self.step.post_message(role, text)

    def save_artifact(self, artifact: ArtifactDraft) -> None:
        self.step.save_artifact(self._rename(artifact))

    def emit(self, event: Durable | Live) -> None:
        self.step.emit(event)

    def _make_key(self, key: str) -> str:
        return key if self.node_attempt == 1 else f"{key}:{self.node_attempt}"

    def _rename(self, artifact: ArtifactDraft) -> ArtifactDraft:
        """Name a chart as that of the node, and anything else so that it is the table of no node."""
        _, dot, endings = artifact.name.partition(".")
        name = f"{self.node_id}{dot}{endings}" if artifact.kind == CHART else f"{self.node_id}.{artifact.name}"
        return replace(artifact, name=name)
