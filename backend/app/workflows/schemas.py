"""Request and response models of workflows."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from app.errors import ToolRefused
from app.program_runs.schemas import RunPreferences, RunStatus, WorkflowOrigin
from app.sessions.schemas import require_storable
from app.tools.context.pipeline_steps import PipelineStep
from app.workflows.authors import AuthorKind
from app.workflows.differences import WorkflowDifference
from app.workflows.document import MAX_NODES, Node, WorkflowDocument
from app.workflows.faults import WorkflowFault
from app.workflows.patching import Operations, StoredOperation
from app.workflows.pipeline_documents import make_steps_document

WorkflowName = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
    AfterValidator(require_storable),
]
VersionMessage = Annotated[str, StringConstraints(max_length=500), AfterValidator(require_storable)]
MAX_VERSION = 2**31 - 1
"""Numbers of versions are 32-bit integers."""
ReadVersion = Annotated[
    int | None,
    Field(
        ge=1,
        le=MAX_VERSION,
        description="The version that was read: a workflow that was changed since stays as it is.",
    ),
]


class WorkflowCreate(WorkflowDocument):
    """A new workflow: its nodes and edges, or the `steps` of an answer, each of which becomes a node."""

    nodes: Annotated[list[Node], Field(max_length=MAX_NODES)] = Field(default_factory=list)
    steps: Annotated[list[PipelineStep], Field(min_length=1, max_length=MAX_NODES)] | None = None
    name: WorkflowName
    message: VersionMessage = ""

    @model_validator(mode="after")
    def _require_content(self) -> Self:
        if (self.steps is None) == ("nodes" not in self.model_fields_set):
            raise ValueError("Send `nodes` with their `edges`, or `steps`")
        if self.steps is not None and self.edges:
            raise ValueError("Steps say by `inputs` what they take, and have no `edges`")
        try:
            _ = self.document
        except ToolRefused as error:
            raise ValueError(str(error)) from None
        return self

    @property
    def document(self) -> WorkflowDocument:
        if self.steps is not None:
            return make_steps_document(self.steps)
        return WorkflowDocument(nodes=self.nodes, edges=self.edges)


class WorkflowReplace(WorkflowDocument):
    """A new version. A name that is null stays as it is."""

    name: WorkflowName | None = None
    version: ReadVersion = None
    message: VersionMessage = ""

    @property
    def document(self) -> WorkflowDocument:
        return WorkflowDocument(nodes=self.nodes, edges=self.edges)


class _WorkflowInput(BaseModel):
    model_config = ConfigDict(extra="forbid")


class WorkflowPatch(_WorkflowInput):
    """Operations of RFC 6902; `/nodes/@id` names a node by its id. All of them are applied, or none."""

    operations: Operations
    version: ReadVersion = None
    message: VersionMessage = ""


class WorkflowRestore(_WorkflowInput):
    """The version whose content becomes a new version."""

    to: int = Field(ge=1, le=MAX_VERSION)
    version: ReadVersion = None
    message: VersionMessage = ""


class WorkflowRunCreate(_WorkflowInput):
    """`node`: its output is the result; by default that of the only node whose output no other one takes."""

    node: str | None = Field(default=None, max_length=100)
    version: int | None = Field(default=None, ge=1, le=MAX_VERSION, description="By default the current one.")
    tag: str | None = Field(default=None, max_length=50, description="Of the version, in place of its number.")
    time_limit_s: float | None = Field(default=None, gt=0, le=86_400)
    payload: Annotated[Any, Field(description="JSON for `payload` nodes, as a webhook brings it.")] = None
    by_node: bool = Field(default=False, description="Run all nodes one by one, also where one query would do.")

    @model_validator(mode="after")
    def _require_one_version(self) -> Self:
        if self.version is not None and self.tag is not None:
            raise ValueError("Name the version by `version` or by `tag`")
        return self


class WorkflowSummary(BaseModel):
    """A workflow. `tags`: names of its versions, beside `main`, which is the current one."""

    id: UUID
    name: str
    owner: str = Field(description="Address of its owner's account.")
    tags: list[str]
    version: int
    created_at: datetime
    updated_at: datetime


class WorkflowView(WorkflowSummary):
    """A workflow with the content of its current version."""

    document: WorkflowDocument


class VersionAuthor(BaseModel):
    """The account that made a version, and how. `name`: of the API key. `session_id`: of the turn or job."""

    email: str
    kind: AuthorKind
    name: str | None = None
    session_id: UUID | None = None


class VersionSummary(BaseModel):
    """A version. `patch`: RFC 6902, from the version before; null for the first one.

    `author` is null where it was saved before authors were recorded.
    """

    version: int
    message: str
    author: VersionAuthor | None
    tags: list[str] = Field(description="Names of this version.")
    patch: list[StoredOperation] | None
    created_at: datetime


class VersionView(VersionSummary):
    document: WorkflowDocument


class WorkflowChange(BaseModel):
    """A saved version, or, of a dry run, the one that would be saved, with what differs."""

    workflow: WorkflowView
    difference: WorkflowDifference


class TriggerView(BaseModel):
    """A trigger. `text`: when it begins runs, in words. `last_tick`: the time of its last run."""

    node: str
    kind: Literal["manual", "schedule", "interval", "webhook", "dataset"]
    text: str = Field(examples=["every weekday at 8:00, Europe/Berlin"])
    next_ticks: list[datetime]
    last_tick: datetime | None


class ValidationView(BaseModel):
    """The faults of a workflow. `triggers`: those that can be read, and when they would run if saved now."""

    is_valid: bool
    faults: list[WorkflowFault]
    outputs: list[str] = Field(description="Nodes whose output no other one takes.")
    triggers: list[TriggerView]


class WorkflowRunView(BaseModel):
    """A run of a workflow; `GET /runs/{id}` has its table."""

    id: UUID
    status: RunStatus | Literal["waiting", "awaiting_user"] = Field(
        description="`waiting`: for a study that it started, or a time. `awaiting_user`: for an answer, as "
        "to an approval."
    )
    version: int
    node: str
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


class WorkflowOverview(WorkflowSummary):
    """A workflow with its newest run, and the next time at which a trigger begins one."""

    last_run: WorkflowRunView | None
    next_run_at: datetime | None = Field(
        description="The first of all schedules and intervals that are switched on; null where there is none."
    )


class WorkflowRun(BaseModel):
    """The request for a run's session: the plan of one node."""

    goal: str
    dataset_ids: list[UUID]
    time_limit_s: float | None
    origin: WorkflowOrigin

    @property
    def preferences(self) -> RunPreferences:
        return RunPreferences(language="plan", time_limit_s=self.time_limit_s, workflow=self.origin)
