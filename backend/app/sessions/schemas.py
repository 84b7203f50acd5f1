"""What the session endpoints take and give."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from app.modeling.problem.kinds import ProblemKindName
from app.modeling.problem.metrics import MetricName
from app.sessions.lifecycle import SessionStatus


class _SessionInput(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _SessionOutput(BaseModel):
    model_config = ConfigDict(frozen=True)


def _storable(text: str) -> str:
    """Postgres cannot hold a NUL, and UTF-8 no half of a surrogate pair."""
    if "\0" in text:
        raise ValueError("must not contain the character NUL")
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        raise ValueError("must not contain half a surrogate pair")
    return text


def _distinct(ids: list[UUID]) -> list[UUID]:
    if len(set(ids)) < len(ids):
        raise ValueError("must not name a dataset twice")
    return ids


Text = Annotated[str, AfterValidator(_storable)]
ColumnName = Annotated[Text, StringConstraints(min_length=1, max_length=200)]
Goal = Annotated[Text, StringConstraints(strip_whitespace=True, min_length=3, max_length=10_000)]

MAX_DATASETS = 20
Datasets = Annotated[list[UUID], AfterValidator(_distinct), Field(max_length=MAX_DATASETS)]

RUN_GRAPH = "run"
"""Sessions of this graph are runs: listed by themselves."""


class ErrorCosts(_SessionInput):
    """What mistakes cost, in any unit; the threshold of a yes or no is chosen for the lowest cost."""

    false_alarm: float = Field(gt=0, allow_inf_nan=False, examples=[1])
    missed: float = Field(gt=0, allow_inf_nan=False, examples=[10], description="A positive not found.")


class BudgetRequest(_SessionInput):
    """What the session may use. When something is used up it asks for more, or ends with what there is."""

    tokens: int | None = Field(default=None, ge=1, description="Input and output tokens of chat models.")
    cost_usd: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    tool_calls: int | None = Field(default=None, ge=1)
    seconds: float | None = Field(
        default=None, ge=1, allow_inf_nan=False, description="Of work, without waiting for you."
    )


class Preferences(_SessionInput):
    """What the user has decided already; whatever is left out the crew decides, or asks."""

    target: ColumnName | None = Field(default=None, description="The column to predict.", examples=["survived"])
    problem: ProblemKindName | None = None
    metric: MetricName | None = Field(default=None, description="What candidates are compared by.")
    time_column: ColumnName | None = Field(default=None, description="Orders the rows in time.")
    group_column: ColumnName | None = Field(
        default=None, description="Rows of one group stay on one side of every split."
    )
    exclude: list[ColumnName] = Field(default_factory=list, max_length=500, description="Columns not to use.")
    column_types: dict[
        ColumnName, Literal["number", "category", "text", "boolean", "datetime", "day_first", "month_first"]
    ] = Field(
        default_factory=dict,
        max_length=4096,
        description="What columns hold where they mislead; of dates also which of day and month is first.",
        examples=[{"store": "category"}],
    )
    positive_class: bool | int | float | Annotated[Text, StringConstraints(max_length=200)] | None = None
    costs: ErrorCosts | None = Field(default=None, description="What mistakes cost; two classes only.")
    horizon: int | None = Field(default=None, ge=1, le=100_000, description="How many rows ahead to predict.")
    model: Literal["ensemble", "single", "interpretable"] | None = Field(
        default=None,
        description="`single`: the best family alone; `interpretable`: a linear model. Else an ensemble, "
        "unless the goal asks for a simple model.",
    )
    time_budget_s: float = Field(
        default=60,
        ge=1,
        le=86_400,
        description="Seconds of the whole session, report included, without waiting for its user.",
    )
    clarify: Literal["ask", "never"] = Field(
        default="ask", description="`never` takes an agent's default answer, and the report says so."
    )
    deterministic: bool = Field(default=False, description="Choose by counts and seeds, never by the clock.")
    seed: int | None = Field(default=None, ge=0, le=2**31 - 1)
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
    """An answer to a question. `question` is its key; left out, it means the one that is open."""

    question: Text | None = Field(default=None, min_length=1, max_length=200, examples=["1.ask:1"])
    answer: JsonValue = Field(description="Must satisfy the question's `answer_schema`.", examples=["survived"])


class QuestionView(_SessionOutput):
    """`key` is what to answer with, `answer_schema` the JSON Schema of the answer."""

    key: str
    kind: Literal["clarification", "approval", "budget"]
    agent: str
    text: str
    options: list[Any]
    default: Any
    answer_schema: dict[str, Any]
    about: dict[str, Any] = Field(
        default_factory=dict, description="Of a call to approve: `tool`, `arguments`, `preview` and `risk`."
    )
    asked_at: datetime


class AllowanceView(_SessionOutput):
    """A rule of one session: calls of `tool` go through without asking."""

    tool: str
    question: str = Field(description="The question whose answer made the rule.")
    granted_at: datetime


class FailureView(_SessionOutput):
    code: str
    detail: str


class UsageTotals(_SessionOutput):
    """What was used. Tokens and cost are of chat models; CPU time and memory of cells, fits included."""

    chat_calls: int = 0
    tool_calls: int = 0
    fits: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = Field(default=0, description="Of the input tokens; the provider knew them.")
    cost_usd: float = Field(default=0.0, description="By the price table of the service.")
    unpriced_calls: int = Field(default=0, description="Calls of chat models that the price table lacks.")
    cells: int = Field(default=0, description="Computations.")
    cpu_s: float = 0.0
    peak_memory_bytes: int = Field(default=0, description="Of the largest cell.")
    memory_limit_bytes: int = Field(default=0, description="What bounded it; 0 when no cell ran.")
    duration_s: float = Field(default=0.0, description="Time inside calls.")


class StepUsage(UsageTotals):
    """What one agent used in one step. A step that is not committed yet has no node."""

    step: int
    node: str | None
    agent: str | None


class BudgetView(_SessionOutput):
    """Use of one resource. `limit` includes extensions; `exhausted` ends the session."""

    resource: Literal["tokens", "cost_usd", "tool_calls", "seconds"]
    used: float
    limit: float
    exhausted: bool = False


class UsageView(UsageTotals):
    budget: list[BudgetView] = Field(default_factory=list, description="Only what has a limit.")
    worked_s: float = Field(default=0.0, description="Since its first claim, without waiting for its user.")
    breakdown: list[StepUsage] = Field(default_factory=list, description="By step and agent.")


class SessionSummary(_SessionOutput):
    id: UUID
    goal: str
    status: SessionStatus
    step: int = Field(description="How many steps are committed.")
    node: str | None = Field(description="The last committed step's name.", examples=["data_analysis"])
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


class QueuePositionView(_SessionOutput):
    """Position in the admission queue; 1 is next. Owners with the fewest running sessions go first."""

    position: int = Field(ge=1, examples=[3])
    length: int = Field(ge=1, description="Number of queued sessions.", examples=[12])


class SessionView(SessionSummary):
    dataset_ids: list[UUID]
    preferences: dict[str, Any]
    seed: int
    deadline_at: datetime | None
    last_event: int = Field(description="Number of the newest event: a cursor for the streams.")
    queue: QueuePositionView | None = Field(
        default=None, description="Set while it waits for one of the places that sessions run in."
    )
    question: QuestionView | None = Field(description="The oldest open question, while it awaits its user.")
    usage: UsageView
    error: FailureView | None
    result: dict[str, Any] | None = Field(description="What the session ended with, in short.")
    expired_data: list[str] = Field(
        default_factory=list, description="Parts that were kept long enough and are gone: `events`, `journal`."
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
    question: str = Field(description="The key of the question that was answered.")


class MessageView(_SessionOutput):
    step: int
    number: int
    role: str = Field(description="`user`, an agent's name or `system`.")
    text: str
    created_at: datetime


class CallView(_SessionOutput):
    """One recorded call: `summary` where a tool left one."""

    key: str
    kind: str
    name: str
    agent: str | None
    failed: bool
    duration_ms: float
    recorded_at: datetime


class StepView(_SessionOutput):
    step: int
    node: str
    started_at: datetime
    committed_at: datetime
    calls: list[CallView]


class CandidateView(_SessionOutput):
    """One candidate of a round of fits."""

    round: str
    candidate: int
    name: str
    status: str
    attempts: int = Field(description="How often it was started; more than 1 after a crash.")
    started_at: datetime | None
    ended_at: datetime | None


class ResultsView(_SessionOutput):
    """`result` is there once the session is completed, `error` once it failed."""

    id: UUID
    status: SessionStatus
    result: dict[str, Any] | None
    error: FailureView | None
    candidates: list[CandidateView]


class AuditView(_SessionOutput):
    """Who did what, when. `detail` depends on the action.

    A call carries its arguments and the SHA-256 of its recorded result, a question what was asked, an answer
    what was answered and by whom.
    """

    created_at: datetime
    actor: str
    action: str
    detail: dict[str, Any]


class TicketView(_SessionOutput):
    """Opens one socket, once, within `expires_in` seconds."""

    ticket: str
    expires_in: int
