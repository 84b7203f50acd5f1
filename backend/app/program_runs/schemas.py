"""Request and response models of the run endpoints."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from app.artifacts.model_schemas import TableFormat
from app.plans.document import PlanDocument
from app.sessions.lifecycle import SessionStatus
from app.sessions.schemas import RUN_GRAPH, Datasets, SessionSummary, SessionView, Text, UsageTotals

GRAPH = RUN_GRAPH


Language = Literal["python", "sql", "plan", "prediction"]
"""Language of a run. A prediction has no code: it names a model and a table; the code of a plan is its JSON."""


class PredictionOrder(BaseModel):
    """`model` and `table`: digests of their blobs."""

    model: str
    table: str
    format: TableFormat
    strict: bool = False


class RunPreferences(BaseModel):
    """Settings of a run, stored as the preferences of its session."""

    model_config = ConfigDict(extra="forbid")

    language: Language
    session_id: UUID | None = None
    time_limit_s: float | None = None
    seed: int = 0
    prediction: PredictionOrder | None = None


class RunCreate(BaseModel):
    """Request for a run of `code`, or of `plan`. `session_id`: run inside that session, with its frames; until
    it has ended, with its training rows only."""

    model_config = ConfigDict(extra="forbid")

    language: Literal["python", "sql", "plan"]
    code: Annotated[Text, StringConstraints(min_length=1, max_length=100_000)] | None = Field(
        default=None,
        description="Python: each table is a DataFrame under its name; set `result`, fill `keep[name]`, draw, "
        "write files. SQL: one SELECT over the tables.",
        examples=["result = titanic_all.groupby('sex')['survived'].mean()"],
    )
    plan: PlanDocument | None = Field(default=None, description="A query plan, with the language `plan`.")
    dataset_ids: Datasets = Field(default_factory=list)
    session_id: UUID | None = None
    time_limit_s: float | None = Field(default=None, gt=0, le=86_400)

    @model_validator(mode="after")
    def _require_program(self) -> Self:
        if (self.language == "plan") != (self.plan is not None) or (self.plan is None) == (self.code is None):
            raise ValueError("Send `plan` with the language plan, and `code` with any other language.")
        return self

    @property
    def goal(self) -> str:
        return (self.code or "") if self.plan is None else self.plan.model_dump_json(exclude_defaults=True)

    @property
    def preferences(self) -> RunPreferences:
        return RunPreferences(
            language=self.language, session_id=self.session_id, time_limit_s=self.time_limit_s
        )


class PredictionRun(BaseModel):
    """A run that predicts a table. `goal` describes it to a reader."""

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


class RunStatusView(BaseModel):
    id: UUID
    status: RunStatus


class RunSummary(RunStatusView):
    code: str
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None

    @classmethod
    def from_session(cls, session: SessionSummary) -> Self:
        """Convert a session of a list. It does not tell if the program of an ended run raised an error."""
        return cls(
            id=session.id,
            status=_STATUS[session.status],
            code=session.goal,
            created_at=session.created_at,
            started_at=session.started_at,
            ended_at=session.ended_at,
        )


class RunView(RunSummary):
    """A run with its code, its inputs, its outcome and its usage.

    `outcome.end` is `returned`, `raised`, `timed_out`, `out_of_memory`, ... or the code of a refusal. Its
    files are artifacts of the session with the run's id.
    """

    language: Language
    dataset_ids: list[UUID]
    session_id: UUID | None
    outcome: dict[str, Any] | None
    error: str | None
    usage: UsageTotals

    @classmethod
    def from_session_view(cls, session: SessionView) -> Self:
        preferences = RunPreferences.model_validate(session.preferences)
        summary = RunSummary.from_session(session).model_dump()
        if session.result and session.result.get("end") != "returned":
            summary["status"] = RunStatus.FAILED
        return cls(
            **summary,
            language=preferences.language,
            dataset_ids=session.dataset_ids,
            session_id=preferences.session_id,
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
