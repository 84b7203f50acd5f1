"""Request and response models of the session endpoints."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from app.modeling.problem.family_catalog import FamilyName
from app.modeling.problem.kinds import ProblemKindName
from app.modeling.problem.metrics import MetricName
from app.sessions.budget_request import BudgetRequest
from app.sessions.lifecycle import SessionStatus
from app.sessions.result_schemas import ResultSummary
from app.sessions.stored_schemas import ForkView, QuestionSubject


class _SessionInput(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _SessionOutput(BaseModel):
    model_config = ConfigDict(frozen=True, json_schema_serialization_defaults_required=True)


def require_storable(text: str) -> str:
    """Refuse text that Postgres (NUL) or UTF-8 (half a surrogate pair) cannot hold."""
    if "\0" in text:
        raise ValueError("must not contain the character NUL")
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        raise ValueError("must not contain half a surrogate pair")
    return text


def _distinct(ids: list[UUID]) -> list[UUID]:
    if len(set(ids)) < len(ids):
        raise ValueError("must not name a dataset twice")
    return ids


Text = Annotated[str, AfterValidator(require_storable)]
ColumnName = Annotated[Text, StringConstraints(min_length=1, max_length=200)]
MAX_GOAL_CHARACTERS = 10_000
"""Characters of a goal: five pages."""
Goal = Annotated[Text, StringConstraints(strip_whitespace=True, min_length=3, max_length=MAX_GOAL_CHARACTERS)]
SessionName = Annotated[Text, StringConstraints(strip_whitespace=True, max_length=200)]

MAX_DATASETS = 20
"""Datasets of one session: join discovery compares every pair of tables."""
Datasets = Annotated[list[UUID], AfterValidator(_distinct), Field(max_length=MAX_DATASETS)]

RUN_GRAPH = "run"
"""Graph of runs, which are sessions with lists of their own."""
WORKFLOW_GRAPH = "workflow"
"""Graph of the runs of whole workflows, of the same class."""
CHAT_GRAPH = "chat"
"""Graph of turns, the messages of conversations."""
JOB_GRAPH = "job"
"""Graph of jobs, the prompts of machines."""
STUDY, RUN, TURN, JOB = "study", "run", "turn", "job"
"""Classes of sessions: a goal of the crew, a program or query, a message of a conversation, a job."""


class ErrorCosts(_SessionInput):
    """Costs of errors of a binary classifier, in any unit. Its threshold minimises the expected cost."""

    false_alarm: float = Field(gt=0, allow_inf_nan=False, examples=[1])
    missed: float = Field(gt=0, allow_inf_nan=False, examples=[10], description="Cost of a false negative.")


class Preferences(_SessionInput):
    """Decisions of the user. The crew makes all others, or asks."""

    target: ColumnName | None = Field(default=None, description="The column to predict.", examples=["survived"])
    problem: ProblemKindName | None = None
    metric: MetricName | None = Field(default=None, description="Metric that candidates are compared by.")
    time_column: ColumnName | None = Field(default=None, description="Column that orders the rows in time.")
    group_column: ColumnName | None = Field(
        default=None, description="Column of groups. All rows of a group stay on the same side of every split."
    )
    exclude: list[ColumnName] = Field(default_factory=list, max_length=500, description="Columns not to use.")
    column_types: dict[
        ColumnName, Literal["number", "category", "text", "boolean", "datetime", "day_first", "month_first"]
    ] = Field(
        default_factory=dict,
        max_length=4096,
        description="Types of columns that are inferred wrongly. For dates, also the order of day and month.",
        examples=[{"store": "category"}],
    )
    positive_class: bool | int | float | Annotated[Text, StringConstraints(max_length=200)] | None = None
    costs: ErrorCosts | None = Field(default=None, description="Costs of errors; two classes only.")
    horizon: int | None = Field(default=None, ge=1, le=100_000, description="Number of rows to predict ahead.")
    model: Literal["ensemble", "single", "interpretable"] | None = Field(
        default=None,
        description="`single`: the best family alone; `interpretable`: a linear model. By default an ensemble, "
        "unless the goal asks for a simple model.",
    )
    families: list[FamilyName] = Field(
        default_factory=list,
        max_length=20,
        description="The only families of models to fit, besides the baseline.",
        examples=[["LightGBM"]],
    )
    time_budget_s: float = Field(
        default=60,
        ge=1,
        le=86_400,
        description="Time budget of the session in seconds, report included, without waiting for its user.",
    )
    clarify: Literal["ask", "never"] = Field(
        default="ask",
        description="`never`: every question is answered with its default, and the report says so.",
    )
    deterministic: bool = Field(
        default=False, description="Decide by counts and seeds only, never by the clock."
    )
    seed: int | None = Field(
        default=None,
        ge=0,
        le=2**31 - 1,
        description="Seed of every draw, such as that of the hold-out. By default 1, so that the same goal on "
        "the same data has the same hold-out.",
    )
    budget: BudgetRequest = Field(default_factory=BudgetRequest, examples=[{"tokens": 200_000}])
    review_plan: bool = Field(default=False, description="Ask for approval before the plan is carried out.")


class SessionCreate(_SessionInput):
    goal: Goal = Field(description="In plain words.", examples=["Predict which passengers survived."])
    dataset_ids: Datasets = Field(
        default_factory=list,
        examples=[["6f1c1c3e-6f0e-4f0a-9a43-0d3f3f3c2b11"]],
    )
    preferences: Preferences = Field(default_factory=Preferences, examples=[{"target": "survived"}])


class SessionRespond(_SessionInput):
    """An answer to a question. `question`: its key, by default that of the open question."""

    question: Text | None = Field(default=None, min_length=1, max_length=200, examples=["1.ask:1"])
    answer: JsonValue = Field(description="Must satisfy the question's `answer_schema`.", examples=["survived"])


class QuestionView(_SessionOutput):
    """An open question. An answer names its `key` and must satisfy the JSON Schema `answer_schema`."""

    key: str
    kind: Literal["clarification", "approval", "budget"]
    agent: str
    text: str
    options: list[Any]
    default: Any
    answer_schema: dict[str, Any]
    about: QuestionSubject = Field(default_factory=QuestionSubject)
    asked_at: datetime


class AllowanceView(_SessionOutput):
    """A rule of one session: `tool` runs without asking."""

    tool: str
    question: str = Field(description="The question whose answer made the rule.")
    granted_at: datetime


class FailureView(_SessionOutput):
    code: str
    detail: str


class UsageTotals(_SessionOutput):
    """Usage. Tokens and cost are those of chat models, CPU time and memory those of cells, with fits."""

    chat_calls: int = 0
    tool_calls: int = 0
    fits: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = Field(default=0, description="Input tokens that the provider had cached.")
    cost_usd: float = Field(default=0.0, description="Cost by the price table of the service.")
    unpriced_calls: int = Field(default=0, description="Calls of chat models without a price.")
    cells: int = Field(default=0, description="Number of computations.")
    cpu_s: float = 0.0
    peak_memory_bytes: int = Field(default=0, description="Peak memory of the largest cell.")
    memory_limit_bytes: int = Field(default=0, description="Memory limit of that cell; 0 without cells.")
    duration_s: float = Field(default=0.0, description="Time in calls, in seconds.")


class StepUsage(UsageTotals):
    """Usage of one agent in one step. A step that is not committed yet has no node."""

    step: int
    node: str | None
    agent: str | None
    inherited: bool = Field(default=False, description="In calls that a fork copied from its source.")


class BudgetView(_SessionOutput):
    """Use of one resource. `limit` includes extensions; `exhausted` ends the session."""

    resource: Literal["tokens", "cost_usd", "tool_calls", "seconds"]
    used: float
    limit: float
    exhausted: bool = False


class UsageView(UsageTotals):
    budget: list[BudgetView] = Field(default_factory=list, description="Resources with a limit.")
    worked_s: float = Field(
        default=0.0, description="Seconds since the session began, without the time it waited for its user."
    )
    breakdown: list[StepUsage] = Field(default_factory=list, description="Usage by step and agent.")
    inherited: UsageTotals | None = Field(
        default=None, description="Of a fork: usage in the calls that it copied, which no total contains."
    )
    inherited_s: float = Field(
        default=0.0, description="Of a fork: seconds of work of its source up to the point of the fork."
    )


class SessionUpdate(_SessionInput):
    """A change of a session. A field that is null stays as it is."""

    name: SessionName | None = Field(
        default=None, description="An empty one calls it by its goal again.", examples=["Churn, first attempt"]
    )
    archived: bool | None = Field(default=None, description="Archived sessions are in a list of their own.")


class StatusCounts(_SessionOutput):
    """Numbers of sessions by status; a status that none has is missing."""

    by_status: dict[SessionStatus, int]
    total: int


class SessionSummary(_SessionOutput):
    id: UUID
    goal: str
    name: str = Field(description="By default the goal.")
    archived_at: datetime | None = None
    status: SessionStatus
    step: int = Field(description="Number of committed steps.")
    node: str | None = Field(description="Name of the last committed step.", examples=["data_analysis"])
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    worked_s: float = Field(
        default=0.0, description="Seconds since the session began, without the time it waited for its user."
    )
    forked_from: UUID | None = Field(
        default=None, description="The session that this one is a fork of, also if that was deleted since."
    )
    fork: ForkView | None = Field(default=None, description="Set if the session is a fork.")
    error_code: str | None = Field(
        default=None,
        description="Code of the error that it failed with; `not_understood` for a goal without a plan.",
    )
    headline: str | None = Field(default=None, description="What the session came to, in a sentence.")


class QueuePositionView(_SessionOutput):
    """Position in the admission queue; 1 is next. Owners with the fewest running sessions go first."""

    position: int = Field(ge=1, examples=[3])
    length: int = Field(ge=1, description="Number of queued sessions.", examples=[12])


class SessionView(SessionSummary):
    family_id: UUID = Field(description="The session that all forks of this family began from.")
    dataset_ids: list[UUID]
    preferences: dict[str, Any]
    seed: int
    deadline_at: datetime | None
    last_event: int = Field(description="Number of the latest event, a cursor for the streams.")
    queue: QueuePositionView | None = Field(
        default=None, description="Set while the session waits for admission."
    )
    question: QuestionView | None = Field(description="The oldest open question.")
    usage: UsageView
    error: FailureView | None
    result: ResultSummary | None = Field(
        description="Summary of the result; `conclusion` is the answer in a sentence."
    )
    expired_data: list[str] = Field(
        default_factory=list,
        description="Parts that were deleted after their retention time: `events`, `journal`.",
    )


class SessionCreated(_SessionOutput):
    id: UUID
    status: SessionStatus
    created_at: datetime


class SessionStatusView(_SessionOutput):
    id: UUID
    status: SessionStatus


class SessionAnswered(_SessionOutput):
    id: UUID
    question: str = Field(description="Key of the answered question.")


class MessageView(_SessionOutput):
    step: int
    number: int
    role: str = Field(description="`user`, an agent's name or `system`.")
    text: str
    created_at: datetime
    inherited: bool = Field(default=False, description="Copied by a fork from its source.")


class CallView(_SessionOutput):
    """One recorded call of a chat model or tool."""

    key: str
    kind: str
    name: str
    agent: str | None
    failed: bool
    duration_ms: float
    recorded_at: datetime
    inherited: bool = Field(default=False, description="Copied by a fork from its source.")


class StepView(_SessionOutput):
    step: int
    node: str
    started_at: datetime
    committed_at: datetime
    inherited: bool = Field(default=False, description="Copied by a fork from its source.")
    calls: list[CallView]


class StepSummary(_SessionOutput):
    """A step as a timeline draws it. `inherited`: copied by a fork from its source."""

    step: int
    node: str = Field(description="Empty while the step runs.")
    started_at: datetime
    ended_at: datetime | None = Field(description="Null while the step runs.")
    inherited: bool
    tool_calls: int
    chat_calls: int
    failed_calls: int
    fits: int
    failed_fits: int
    artifacts: int
    questions: int
    tokens: int = Field(description="Of chat models, in and out.")
    cost_usd: float
    cpu_s: float = Field(description="CPU seconds of the cells of its calls.")
    peak_memory_bytes: int = Field(description="Of its largest cell.")


class CandidateView(_SessionOutput):
    """One candidate of a round of fits."""

    round: str
    candidate: int
    name: str
    status: str
    attempts: int = Field(description="Number of starts: more than 1 after a crash.")
    started_at: datetime | None
    ended_at: datetime | None


class ResultsView(_SessionOutput):
    """Result of a completed session, or error of a failed one, with all candidates."""

    id: UUID
    status: SessionStatus
    result: ResultSummary | None
    error: FailureView | None
    candidates: list[CandidateView]


class AuditView(_SessionOutput):
    """One recorded action. `detail` depends on the action.

    For a call it has the arguments and the SHA-256 of the recorded result, for a question its text, for an
    answer its value and its author.
    """

    created_at: datetime
    actor: str
    action: str
    detail: dict[str, Any]


class TicketView(_SessionOutput):
    """A ticket that opens one socket, once, within `expires_in` seconds."""

    ticket: str
    expires_in: int
