"""What a session has recorded so far, for whoever writes about it. Read-only."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID

from app.db.pool import Database
from app.recorded_call import RecordedCall
from app.sessions.schemas import UsagePart
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
    """`by` is `user`, `default`, or None while nobody has answered."""

    key: str
    agent: str
    text: str
    default: Any
    answer: Any
    by: str | None


class SessionRecords(Protocol):
    """Tool calls, artifacts and questions in the order in which they came, those of the open step included."""

    async def calls(self, step: StepScope) -> Sequence[RecordedCall]: ...

    async def artifacts(self) -> Sequence[ArtifactFacts]: ...

    async def questions(self) -> Sequence[QuestionFacts]: ...

    async def is_tool_allowed(self, tool: str) -> bool:
        """Did the user let this tool run without being asked again, and has not revoked it?"""
        ...

    async def usage(self, step: StepScope) -> Sequence[UsagePart]:
        """What each agent used in each step; `sessions.usage.total` adds it up."""
        ...


@dataclass(frozen=True)
class DatabaseRecords:
    db: Database
    session_id: UUID

    async def calls(self, step: StepScope) -> list[RecordedCall]:
        rows = await self.db.rows(VIEWS.recorded_calls, self.session_id, step.node)
        return [
            RecordedCall(
                seq=row["seq"],
                node=row["node"],
                key=row["key"],
                tool=row["name"],
                agent=row["agent"] or "",
                request=_json(row["request"]),
                result=_json(row["result"]),
                kind=row["kind"],
                failed=row["failed"],
                duration_ms=row["duration_ms"],
            )
            for row in rows
        ]

    async def artifacts(self) -> list[ArtifactFacts]:
        rows = await self.db.rows(VIEWS.recorded_artifacts, self.session_id)
        return [
            ArtifactFacts(
                id=row["id"],
                kind=row["kind"],
                name=row["name"],
                media_type=row["media_type"],
                digest=row["digest"],
                size_bytes=row["size_bytes"],
                seq=row["seq"],
                call=row["call_key"],
                meta=_json(row["meta"]) or {},
            )
            for row in rows
        ]

    async def questions(self) -> list[QuestionFacts]:
        rows = await self.db.rows(VIEWS.recorded_questions, self.session_id)
        return [
            QuestionFacts(
                key=row["key"],
                agent=row["agent"],
                text=str(body.get("text", "")),
                default=body.get("default"),
                answer=_json(row["answer"]),
                by=row["answered_by"],
            )
            for row in rows
            for body in [_json(row["body"]) or {}]
        ]

    async def is_tool_allowed(self, tool: str) -> bool:
        return await is_tool_allowed(self.db, self.session_id, tool)

    async def usage(self, step: StepScope) -> list[UsagePart]:
        rows = await self.db.rows(VIEWS.usage, self.session_id)
        parts = [UsagePart(**dict(row)) for row in rows]
        return [part if part.node else part.model_copy(update={"node": step.node}) for part in parts]


def _json(raw: Any) -> Any:
    """asyncpg gives JSON columns as text."""
    return json.loads(raw) if isinstance(raw, str) else raw
