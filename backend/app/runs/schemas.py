"""What the run endpoints take and give."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from app.artifacts.model_schemas import TableFormat
from app.sessions.lifecycle import SessionStatus
from app.sessions.schemas import RUN_GRAPH, Datasets, SessionSummary, SessionView, Text, UsageTotals

GRAPH = RUN_GRAPH


Language = Literal["python", "sql", "prediction"]
"""What a run is written in. A prediction has no code: it says which model over which table."""


class PredictionOrder(BaseModel):
    """`model` and `table`: digests of their blobs."""

    model: str
    table: str
    format: TableFormat


class RunPreferences(BaseModel):
    """How a run is to be run; what its session keeps as preferences."""

    model_config = ConfigDict(extra="forbid")

    language: Language
    session_id: UUID | None = None
    time_limit_s: float | None = None
    seed: int = 0
    prediction: PredictionOrder | None = None


class RunCreate(BaseModel):
    """`session_id`: run inside that session: its frames are at hand, training rows only until it ends."""

    model_config = ConfigDict(extra="forbid")

    language: Literal["python", "sql"]
    code: Annotated[Text, StringConstraints(min_length=1, max_length=100_000)] = Field(
        description="Python: each table is a DataFrame under its name; set `result`, fill `keep[name]`, draw, "
        "write files. SQL: one SELECT over the tables.",
        examples=["result = titanic_all.groupby('sex')['survived'].mean()"],
    )
    dataset_ids: Datasets = Field(default_factory=list)
    session_id: UUID | None = None
    time_limit_s: float | None = Field(default=None, gt=0, le=86_400)

    @property
    def goal(self) -> str:
        return self.code

    @property
    def preferences(self) -> RunPreferences:
        return RunPreferences(
            language=self.language, session_id=self.session_id, time_limit_s=self.time_limit_s
        )


class PredictionRun(BaseModel):
    """A run that predicts a table. `goal` says so in words."""

    goal: str
    dataset_ids: list[UUID]
    order: PredictionOrder

    @property
    def preferences(self) -> RunPreferences:
        return RunPreferences(language="prediction", prediction=self.order)


class RunStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class RunStanding(BaseModel):
    id: UUID
    status: RunStatus


class RunSummary(RunStanding):
    code: str
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None

    @classmethod
    def of(cls, session: SessionSummary) -> Self:
        """From a list: whether an ended run returned is not in a summary of its session."""
        return cls(
            id=session.id,
            status=_STATUS[session.status],
            code=session.goal,
            created_at=session.created_at,
            started_at=session.started_at,
            ended_at=session.ended_at,
        )


class RunView(RunSummary):
    """A capsule: what was run over what, how it ended and what it left.

    `outcome.end` is `returned`, `raised`, `timed_out`, `out_of_memory`, ... or the code of a refusal. Files
    that it left are artifacts of the session with the run's id.
    """

    language: Language
    dataset_ids: list[UUID]
    session_id: UUID | None
    outcome: dict[str, Any] | None
    error: str | None
    usage: UsageTotals

    @classmethod
    def view(cls, session: SessionView) -> Self:
        wish = RunPreferences.model_validate(session.preferences)
        summary = RunSummary.of(session).model_dump()
        if session.result and session.result.get("end") != "returned":
            summary["status"] = RunStatus.FAILED
        return cls(
            **summary,
            language=wish.language,
            dataset_ids=session.dataset_ids,
            session_id=wish.session_id,
            outcome=session.result,
            error=session.error.detail if session.error else None,
            usage=UsageTotals(**session.usage.model_dump(include=set(UsageTotals.model_fields))),
        )


_STATUS: dict[SessionStatus, RunStatus] = {
    SessionStatus.QUEUED: RunStatus.QUEUED,
    SessionStatus.RUNNING: RunStatus.RUNNING,
    SessionStatus.AWAITING_USER: RunStatus.RUNNING,
    SessionStatus.AWAITING_FITS: RunStatus.RUNNING,
    SessionStatus.CANCELLING: RunStatus.RUNNING,
    SessionStatus.COMPLETED: RunStatus.SUCCEEDED,
    SessionStatus.FAILED: RunStatus.FAILED,
    SessionStatus.CANCELLED: RunStatus.CANCELLED,
}
