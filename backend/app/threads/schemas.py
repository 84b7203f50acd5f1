"""Request and response models of conversations."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from app.sessions.schemas import Datasets, QuestionView, QueuePositionView, require_storable
from app.workspaces.schemas import LostVariable, WorkspaceVariable

CHAT_GRAPH = "chat"
"""Graph of turns."""

Mode = Literal["auto", "sql", "python", "plan"]
"""`auto`: the assistant reads the message; otherwise it is executed as it stands."""

MAX_MESSAGE_CHARS = 20_000
"""Characters of a message: the longest query that is admitted."""

Message = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_MESSAGE_CHARS),
    AfterValidator(require_storable),
]
Title = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
    AfterValidator(require_storable),
]


WorldlineName = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=80),
    AfterValidator(require_storable),
]


class _ChatInput(BaseModel):
    model_config = ConfigDict(extra="forbid")


def _require_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(f"There is no time zone {name}. Example: Europe/Berlin") from error
    return name


class TurnPreferences(_ChatInput):
    """Preferences of a turn. `clarify`: `never` has every question answered with its default.

    `study_budget_s`: seconds of a study that the turn starts. `time_zone`: of schedules whose words name none.
    """

    clarify: Literal["ask", "never"] = "ask"
    time_limit_s: float | None = Field(default=None, gt=0, le=3600, allow_inf_nan=False)
    study_budget_s: float | None = Field(default=None, ge=1, le=86_400, allow_inf_nan=False)
    time_zone: Annotated[str, Field(max_length=100), AfterValidator(_require_zone)] | None = None


class ChatMessage(_ChatInput):
    """A message to the assistant. Without `thread_id` and `worldline_id` it begins a new thread."""

    message: Message = Field(
        description="In plain words; or code as it stands after `SQL:`, `PYTHON:` or `PLAN:`.",
        examples=["What is the mean fare by class?", "SQL: select count(*) from titanic_all"],
    )
    thread_id: UUID | None = None
    worldline_id: UUID | None = Field(default=None, description="By default the first one of the thread.")
    dataset_ids: Datasets | None = Field(
        default=None, description="Datasets of the thread from now on; by default those that it has."
    )
    mode: Mode | None = Field(default=None, description="Instead of a prefix of the message.")
    preferences: TurnPreferences = Field(default_factory=TurnPreferences)


class ToolCode(_ChatInput):
    """Code that runs as it stands, at the end of a worldline."""

    worldline_id: UUID
    code: Annotated[Message, Field(validation_alias=AliasChoices("code", "sql"))]
    timeout_s: float | None = Field(default=None, gt=0, le=300, allow_inf_nan=False)


class TurnStatus(StrEnum):
    """`waiting`: for the turn before it. `failed`: its code or the turn itself ended with `error`."""

    WAITING = "waiting"
    QUEUED = "queued"
    RUNNING = "running"
    AWAITING_USER = "awaiting_user"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class AnswerColumn(BaseModel):
    name: str
    type: str = "text"


class TableView(BaseModel):
    """The table of an answer: its first rows, the number of all, and the artifact that holds them."""

    columns: list[AnswerColumn]
    rows: list[list[Any]]
    row_count: int
    truncated: bool = Field(description="The artifact has more rows than `rows`.")
    artifact: UUID | None = None
    rows_used: int | None = Field(default=None, description="Rows behind the answer, after joins and filters.")
    rows_there: int | None = Field(default=None, description="Rows of the source.")


class TurnArtifact(BaseModel):
    id: UUID
    kind: str
    name: str
    media_type: str
    size_bytes: int


class ChartAxes(BaseModel):
    """The columns that a chart was asked for; those that are left out were chosen by their types."""

    x: str | None = None
    y: list[str] = Field(default_factory=list)
    color: str | None = None
    moving_average: int | None = Field(default=None, description="Rows of the mean beside a line.")


class ChartView(TurnArtifact):
    """A chart. Its specification: `GET /charts/{id}`, its drawings: `/charts/{id}/png` and `/svg`."""

    chart_kind: str = Field(default="", examples=["bar"])
    title: str = ""
    problem: str | None = Field(default=None, description="Why there is no drawing, only the specification.")
    axes: ChartAxes = Field(default_factory=ChartAxes)


class TableChange(BaseModel):
    """A change of the conversation's own tables. `rows`: of the table afterwards."""

    kind: str = Field(examples=["created", "updated", "dropped"])
    name: str
    rows: int | None = None
    changed_rows: int | None = None
    text: str


class TurnWorkflow(BaseModel):
    """The version of a workflow that a turn saved. `difference`: `+` added, `-` removed, `~` changed."""

    id: UUID
    name: str
    version: int
    change: str
    difference: str
    next_runs: list[datetime] = Field(default_factory=list)


class TurnRun(BaseModel):
    """The run of a workflow that a turn began, answered or read, as `GET /workflow-runs/{id}`.

    `workflow`: id of the workflow.
    """

    id: UUID
    workflow: UUID
    name: str
    version: int


class TurnFailure(BaseModel):
    """Failure of the code of a turn, or of the turn."""

    code: str
    message: str


class PlanPart(BaseModel):
    """A source or a step of a query plan; its settings stand beside its kind."""

    model_config = ConfigDict(extra="allow")

    kind: str = Field(default="", examples=["group"])


class TurnPlan(BaseModel):
    """A query plan, as `POST /query-plans/compile` takes it."""

    model_config = ConfigDict(extra="allow")

    version: int = 1
    source: PlanPart
    steps: list[PlanPart] = Field(default_factory=list)


class TurnView(BaseModel):
    """One message and everything done to answer it."""

    turn_id: UUID
    thread_id: UUID
    worldline_id: UUID | None = Field(description="Null once that worldline is deleted.")
    parent_id: UUID | None = Field(description="The turn before it; null for the first one.")
    status: TurnStatus
    message: str
    mode: Mode
    text: str = Field(default="", description="The answer in words.")
    table: TableView | None = None
    sql: str | None = Field(default=None, description="The SQL that the table and the changes came from.")
    plan: TurnPlan | None = Field(default=None, description="The query plan that the SELECT came from.")
    code: str | None = Field(default=None, description="The code of a direct mode, as it was executed.")
    readings: list[str] = Field(default_factory=list, description="Interpretations of ambiguous words.")
    suggestions: list[str] = Field(default_factory=list, description="Similar questions that are understood.")
    stdout: str = ""
    changes: list[TableChange] = Field(
        default_factory=list, description="Changes of the conversation's own tables, in order."
    )
    variables: list[WorkspaceVariable] = Field(
        default_factory=list, description="Variables that a program made or changed; later programs have them."
    )
    not_kept: list[LostVariable] = Field(
        default_factory=list, description="Variables of a program that later programs do not have."
    )
    charts: list[ChartView] = Field(default_factory=list)
    artifacts: list[TurnArtifact] = Field(default_factory=list)
    studies: list[UUID] = Field(default_factory=list, description="Studies that the turn started.")
    steps: list[dict[str, JsonValue]] = Field(
        default_factory=list, description="Steps of a pipeline that was run."
    )
    workflow: TurnWorkflow | None = Field(
        default=None, description="The workflow that the turn made or changed."
    )
    run: TurnRun | None = Field(
        default=None, description="The run of a workflow that the turn began or answered."
    )
    queue: QueuePositionView | None = Field(
        default=None, description="Set while as many of your turns run as may: place among those that wait."
    )
    question: QuestionView | None = None
    failure: TurnFailure | None = None
    dataset_ids: list[UUID]
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


class WorldlineView(BaseModel):
    """A named branch of a thread. `head`: its last turn; null before the first."""

    id: UUID
    thread_id: UUID
    name: str
    head: UUID | None
    from_turn: UUID | None
    created_at: datetime


class WorldlineCreate(_ChatInput):
    """A branch that begins after a turn. To edit an earlier message, begin after the turn before it."""

    thread_id: UUID
    from_turn: UUID | None = Field(description="The last turn that both share; null for the beginning.")
    name: WorldlineName | None = Field(
        default=None, description="By default its message, shortened, or `branch` and a number."
    )
    message: Message | None = Field(default=None, description="The first message of the branch.")


class WorldlineUpdate(_ChatInput):
    name: WorldlineName


class WorldlineList(BaseModel):
    """The worldlines of a thread, the first one first."""

    items: list[WorldlineView]


class ThreadSummary(BaseModel):
    id: UUID
    title: str
    dataset_ids: list[UUID]
    turns: int
    created_at: datetime
    updated_at: datetime
    archived_at: datetime | None


class ThreadView(ThreadSummary):
    worldlines: list[WorldlineView]


class TreeTurn(BaseModel):
    """One turn in the tree of its thread. `message`: its first 200 characters."""

    turn_id: UUID
    parent_id: UUID | None = Field(description="The turn before it; null for a first one.")
    worldline_id: UUID | None = Field(description="The worldline of its message; null once that is deleted.")
    mode: Mode
    message: str
    status: TurnStatus
    studies: list[UUID] = Field(default_factory=list, description="Studies that the turn started.")
    created_at: datetime
    ended_at: datetime | None


class ThreadTree(BaseModel):
    """The turns of a thread with their parents, oldest first, and its worldlines with their heads."""

    thread_id: UUID
    worldlines: list[WorldlineView]
    turns: list[TreeTurn]
    next: UUID | None = Field(description="Send it as `after` for the turns after these; null at the end.")


class ThreadUpdate(_ChatInput):
    """A change of a thread. A field that is null stays as it is."""

    title: Title | None = None
    dataset_ids: Datasets | None = None
    archived: bool | None = None


class AwaitingTurnView(BaseModel):
    """A turn that waits for its user: an approval or a question. `question`: its first line."""

    turn_id: UUID
    thread_id: UUID
    worldline_id: UUID | None
    title: str
    question: str
    created_at: datetime


class ChatMessageView(BaseModel):
    """A message of a conversation. `id`: `turn.step.number`."""

    id: str
    turn_id: UUID
    role: str = Field(description="`user`, `assistant` or `system`.")
    text: str
    created_at: datetime
    turn: TurnView | None = Field(
        default=None, description="With the last message of a turn: its table, SQL, plan and files."
    )


class ThreadMessages(BaseModel):
    """Messages of a worldline, oldest first: those of its last turns, or of the turns before `before`."""

    thread_id: UUID
    worldline_id: UUID
    messages: list[ChatMessageView]
    next: UUID | None = Field(description="Send it as `before` for the turns before these; null at the root.")
