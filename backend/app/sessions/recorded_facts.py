"""Read access to the calls, artifacts, questions and usage that a session has recorded so far."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from app.db.pool import Database
from app.recorded_call import RecordedCall
from app.sessions.holdout_looks import HoldoutLooks, LookKind
from app.sessions.schemas import StepUsage
from app.sessions.statements import VIEWS
from app.sessions.step_scope import StepScope
from app.sessions.tool_permissions import is_tool_allowed


@dataclass(frozen=True)
class ArtifactFacts:
    id: UUID
    kind: str
    name: str
    media_type: str
    digest: str
    size_bytes: int
    seq: int
    call: str
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class QuestionFacts:
    """`by`: `user`, `default`, or None while the question is open."""

    key: str
    agent: str
    text: str
    default: Any
    answer: Any
    by: str | None


class SessionRecords(Protocol):
    """Tool calls, artifacts and questions in the order of their recording, those of the open step included."""

    async def calls(self, step: StepScope) -> Sequence[RecordedCall]: ...

    async def artifacts(self) -> Sequence[ArtifactFacts]: ...

    async def questions(self) -> Sequence[QuestionFacts]: ...

    async def is_tool_allowed(self, tool: str) -> bool:
        """Check if the user lets this tool run in this session without being asked."""
        ...

    async def usage(self, step: StepScope) -> Sequence[StepUsage]:
        """Return the usage of each agent in each step; `sessions.usage.total_usage` adds it up."""
        ...

    async def count_look(self, step: StepScope) -> dict[str, Any] | None:
        """Number the look of the final evaluation at the hold-out; see `sessions.holdout_looks`."""
        ...


class CallRecord(NamedTuple):
    """`request` and `result`: JSON."""

    seq: int
    node: str
    key: str
    kind: str
    name: str
    agent: str
    request: str
    result: str
    failed: bool
    duration_ms: float


class RecordedArtifact(NamedTuple):
    """`meta`: JSON."""

    id: UUID
    kind: str
    name: str
    media_type: str
    digest: str
    size_bytes: int
    seq: int
    call_key: str
    meta: str


class QuestionRecord(NamedTuple):
    """`body` and `answer`: JSON; `answer` is None while the question is open."""

    key: str
    agent: str
    body: str
    answer: str | None
    answered_by: str | None


def make_recorded_call(row: CallRecord) -> RecordedCall:
    return RecordedCall(
        seq=row.seq,
        node=row.node,
        key=row.key,
        tool=row.name,
        agent=row.agent,
        request=json.loads(row.request),
        result=json.loads(row.result),
        kind=row.kind,
        failed=row.failed,
        duration_ms=row.duration_ms,
    )


@dataclass(frozen=True)
class DatabaseRecords:
    """The records of one session in Postgres."""

    db: Database
    session_id: UUID

    async def calls(self, step: StepScope) -> list[RecordedCall]:
        rows = await self.db.rows(VIEWS.recorded_calls, self.session_id, step.node)
        return [make_recorded_call(CallRecord(**row)) for row in rows]

    async def artifacts(self) -> list[ArtifactFacts]:
        rows = await self.db.rows(VIEWS.recorded_artifacts, self.session_id)
        return [_make_artifact_facts(RecordedArtifact(**row)) for row in rows]

    async def questions(self) -> list[QuestionFacts]:
        rows = await self.db.rows(VIEWS.recorded_questions, self.session_id)
        return [_make_question_facts(QuestionRecord(**row)) for row in rows]

    async def is_tool_allowed(self, tool: str) -> bool:
        return await is_tool_allowed(self.db, self.session_id, tool)

    async def count_look(self, step: StepScope) -> dict[str, Any] | None:
        return await HoldoutLooks(self.db).count(self.session_id, step.seq, LookKind.FINAL)

    async def usage(self, step: StepScope) -> list[StepUsage]:
        rows = await self.db.rows(VIEWS.usage, self.session_id)
        parts = [StepUsage(**row) for row in rows]
        # The open step has no row yet, so its calls come without the name of its node.
        return [part if part.node else part.model_copy(update={"node": step.node}) for part in parts]


def _make_artifact_facts(row: RecordedArtifact) -> ArtifactFacts:
    return ArtifactFacts(
        id=row.id,
        kind=row.kind,
        name=row.name,
        media_type=row.media_type,
        digest=row.digest,
        size_bytes=row.size_bytes,
        seq=row.seq,
        call=row.call_key,
        meta=json.loads(row.meta),
    )


def _make_question_facts(row: QuestionRecord) -> QuestionFacts:
    body = json.loads(row.body)
    return QuestionFacts(
        key=row.key,
        agent=row.agent,
        text=str(body.get("text", "")),
        default=body.get("default"),
        answer=json.loads(row.answer) if row.answer is not None else None,
        by=row.answered_by,
    )
