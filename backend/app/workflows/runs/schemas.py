"""State, request and views of a run of a workflow."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from app.program_runs.schemas import WorkflowOrigin
from app.sessions.lifecycle import SessionStatus
from app.workflows.document import WorkflowDocument
from app.workflows.fusion import dataset_ids

NodeStatus = Literal["done", "skipped", "failed", "unknown"]
"""`skipped`: a condition or an approval before it did not pass, or a node before it failed. `unknown`: it is
not known
whether its message was sent."""


class ItemResult(BaseModel):
    """The result of one item of a `for_each`."""

    model_config = ConfigDict(extra="forbid")

    item: Any
    rows: int
    status: NodeStatus
    error: str | None = None


class StudyOutcome(BaseModel):
    """The end of a study. `value`: of the metric, on the hold-out. `model_id`: the model that it chose."""

    model_config = ConfigDict(extra="forbid")

    status: SessionStatus
    error: str | None = None
    headline: str | None = None
    target: str | None = None
    metric: str | None = None
    value: float | None = None
    model_id: UUID | None = None


class NodeResult(BaseModel):
    """The result of one node. `passes`: of a condition or approval. `figure`: the one that a
    condition tested. `chart`: digest of the chart that it drew. `dataset_id`: the dataset that it stored.
    `study_id`: the study that it started, `study`: how that ended. `answer`: the words of an agent.
    `needs_review`: its notes are doubts about what it came to, and not only how that was reached."""

    model_config = ConfigDict(extra="forbid")

    status: NodeStatus
    rows: int | None = None
    columns: list[dict[str, Any]] = Field(default_factory=list)
    preview: list[list[Any]] = Field(default_factory=list, description="The first rows.")
    figure: float | None = None
    passes: bool | None = None
    attempts: int | None = None
    chart: str | None = None
    dataset_id: UUID | None = None
    study_id: UUID | None = None
    study: StudyOutcome | None = None
    answer: str | None = None
    items: list[ItemResult] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list, description="Warnings, a sentence each.")
    needs_review: bool = False
    error: str | None = None
    code: str | None = None


class RetriedRun(BaseModel):
    """The run that another one goes on from. `node`: the first node that runs again."""

    model_config = ConfigDict(extra="forbid")

    id: UUID
    node: str


class DryRun(BaseModel):
    """The proposal that a run tries without effects. `inputs_of`: the run whose tables it begins with."""

    model_config = ConfigDict(extra="forbid")

    proposal_id: UUID
    workflow_id: UUID
    inputs_of: UUID


class WorkflowRunPreferences(BaseModel):
    """Settings of a run, stored as the preferences of its session. `tick`: the time that a trigger
    asked for. `chain`: names of the workflows whose runs led to this one, each by a
    dataset that it stored or a webhook that it called."""

    model_config = ConfigDict(extra="forbid")

    workflow: WorkflowOrigin
    trigger: str = "manual"
    tick: datetime | None = None
    retried: RetriedRun | None = None
    dry: DryRun | None = None
    payload: Any = None
    chain: list[str] = Field(default_factory=list)
    seed: int = 0

    @property
    def saved_origin(self) -> WorkflowOrigin:
        """The saved workflow, also of a dry run, which is of none itself."""
        if self.dry is None:
            return self.workflow
        return self.workflow.model_copy(update={"id": self.dry.workflow_id})


class WholeRun(BaseModel):
    """The request for a run of all nodes. `goal`: the document, which the run pins."""

    goal: str
    dataset_ids: list[UUID]
    preferences: WorkflowRunPreferences


def make_whole_run(document: WorkflowDocument, preferences: WorkflowRunPreferences) -> WholeRun:
    """Make the request for a run of all nodes of a valid document."""
    goal = document.model_dump_json(by_alias=True)
    return WholeRun(goal=goal, dataset_ids=dataset_ids(document), preferences=preferences)


class RunQuestion(BaseModel):
    """A question that the run waits for: POST /workflow-runs/{id}/answer."""

    key: str
    text: str
    options: list[Any]


class InboxRunView(BaseModel):
    """A run that its owner has to answer or to look at. `name`: of its workflow."""

    id: UUID
    workflow_id: UUID
    name: str
    version: int
    status: Literal["awaiting_user", "failed", "succeeded"]
    question: RunQuestion | None = Field(description="What it waits for; null for a run that has ended.")
    reason: str | None = Field(description="Why it is to be looked at: its first failure, or else a warning.")
    created_at: datetime


class WholeRunView(BaseModel):
    """A run with the results of its nodes."""

    id: UUID
    workflow_id: UUID
    version: int
    status: SessionStatus | Literal["waiting"] = Field(
        description="`waiting`: for the study in `waits_for`, or the time in `waits_until`. "
        "`awaiting_user`: for an answer to `question`."
    )
    outcome: Literal["succeeded", "failed"] | None
    error: str | None = Field(default=None, description="Why the run as a whole failed, beside its nodes.")
    trigger: str
    tick: datetime | None
    retried: RetriedRun | None
    dry: DryRun | None = Field(default=None, description="Set for a dry run of a proposal.")
    nodes: dict[str, NodeResult]
    waits_for: UUID | None = Field(default=None, description="The study that the run waits for.")
    waits_until: datetime | None = Field(
        default=None, description="The time at which a node of the run tries again what failed."
    )
    question: RunQuestion | None
    charts: dict[str, UUID] = Field(
        default_factory=dict, description="Charts that nodes drew: GET /charts/{id}."
    )
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
