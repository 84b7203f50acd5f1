"""Configurations of the nodes that are no operation on tables."""

from datetime import UTC, datetime
from itertools import islice
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import Field, StringConstraints, field_validator, model_validator

from app.charts.chart_request import MAX_MOVING_ROWS, MAX_SERIES, ChartKind, ChartRequest
from app.plans.expressions import Name
from app.plans.plan import Plan
from app.plans.plan_document import PlanDocument
from app.workflows.cron import load_zone, parse_cron
from app.workflows.document import MAX_RETRIES, Node, NodeId, WorkflowPart

SecretName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,99}$")]
HttpUrl = Annotated[str, Field(max_length=2_000, pattern=r"^https?://\S+$")]
FieldName = Annotated[str, StringConstraints(min_length=1, max_length=200)]
MAX_ITEMS = 100
"""Items of `for_each`: each has a recorded call for each of its nodes, all in one step."""
MAX_ITEM_NODES = 10
"""Nodes that run for each item."""
MAX_STUDY_WAIT_S = 7 * 86_400
"""Longest wait for a study, in seconds: one that asks waits for its user, who may be away for a week."""
MIN_PROMPT_CHARS = 3
"""Characters of the shortest prompt that asks something: `sum`."""
MAX_PROMPT_CHARS = 10_000
"""Characters of a prompt: about four pages, which leave a chat model room for its tables."""
MAX_PAGES = 100
"""Pages of an answer: each is a request and a recorded call, all in one step."""
MAX_PAGES_S = 600.0
"""Longest time for all pages, in seconds: a step should not hold its worker for longer."""
Pointer = Annotated[str, Field(max_length=200, pattern=r"^(/.*)?$")]
TABLE_MEDIA_TYPE = "application/vnd.apache.parquet"
"""Form of the stored tables."""
_ARTIFACT = "artifact://"
COMPARES_RUNS = ("drops", "rises", "changes")
"""Tests of a condition that need the figure of the run before."""
MIN_INTERVAL_S = 60
"""Shortest time between two ticks, in seconds: a sweep is later by some seconds."""


class ReadDataset(WorkflowPart):
    """A dataset of the owner by its id."""

    dataset_id: UUID


class ReadResult(WorkflowPart):
    """A table that a job, a study or another run has made, as it is when the node runs.

    `result_ref`: the one that an answer of a job names. `workflow_id` and `node`: that of the node in the
    newest run of a workflow in which it ended well. `session_id`: the newest table of a study, a run or a turn,
    or the one named `table`. A hold-out is none of them.
    """

    result_ref: Annotated[str, Field(pattern=r"^artifact://[0-9a-fA-F-]{36}$")] | None = None
    workflow_id: UUID | None = None
    node: NodeId | None = None
    session_id: UUID | None = None
    table: FieldName | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if sum(source is not None for source in (self.result_ref, self.workflow_id, self.session_id)) != 1:
            raise ValueError(
                "Name one result, by `result_ref`, by `workflow_id` and `node`, or by `session_id`"
            )
        if (self.workflow_id is None) != (self.node is None):
            raise ValueError("`workflow_id` and `node` name a result together")
        if self.table is not None and self.session_id is None:
            raise ValueError("`table` names a table of `session_id`")
        if self.result_ref is not None:
            UUID(self.result_ref.removeprefix(_ARTIFACT))
        return self

    @property
    def artifact_id(self) -> UUID | None:
        return None if self.result_ref is None else UUID(self.result_ref.removeprefix(_ARTIFACT))

    def describe(self) -> str:
        if self.result_ref is not None:
            return self.result_ref
        if self.workflow_id is not None:
            return f"of the node {self.node} of the workflow {self.workflow_id}"
        return f"{f'{self.table} ' if self.table else ''}of the session {self.session_id}"


class RunPlan(WorkflowPart):
    """A query plan of its own, over the datasets that the workflow reads."""

    plan: PlanDocument


class Trigger(WorkflowPart):
    """Says when the workflow runs. `missed`: the rule for ticks that came while nothing could run.

    `dataset`: once for each new dataset with the name of `dataset_id`, which is read in its place. `webhook`:
    with a `secret`, calls have to be signed by it.
    """

    kind: Literal["manual", "schedule", "interval", "webhook", "dataset"]
    cron: Annotated[str, Field(max_length=200)] | None = Field(default=None, examples=["0 8 * * 1-5"])
    time_zone: Annotated[str, Field(max_length=100)] = Field(default="UTC", examples=["Europe/Berlin"])
    every_s: Annotated[int, Field(ge=MIN_INTERVAL_S, le=366 * 86_400)] | None = None
    dataset_id: UUID | None = None
    secret: SecretName | None = None
    missed: Literal["skip", "once", "all"] = "once"
    enabled: bool = True

    @model_validator(mode="after")
    def _check(self) -> Self:
        load_zone(self.time_zone)
        needed = {"schedule": "cron", "interval": "every_s", "dataset": "dataset_id"}.get(self.kind)
        if needed is not None and getattr(self, needed) is None:
            raise ValueError(f"A trigger of the kind {self.kind} needs `{needed}`")
        # Looked for once here: a sweep would search for such a day each time.
        if (
            self.cron is not None
            and next(parse_cron(self.cron, self.time_zone).ticks_after(_now()), None) is None
        ):
            raise ValueError(f"No day matches {self.cron}")
        return self

    def next_ticks(self, count: int, start: datetime | None = None) -> list[datetime]:
        """Return the next ticks of a schedule; other kinds have none that are known."""
        if self.kind != "schedule" or self.cron is None:
            return []
        return list(islice(parse_cron(self.cron, self.time_zone).ticks_after(start or _now()), count))


class Payload(WorkflowPart):
    """The JSON that a webhook brought, as a table. `fields`: those that each record must have.

    `records`: JSON pointer to the list of records.
    """

    fields: Annotated[dict[FieldName, Literal["text", "number", "boolean"]], Field(max_length=100)] = Field(
        default_factory=dict
    )
    records: Pointer = ""


class AnswerPages(WorkflowPart):
    """Pages of an answer, which are read one after the other and give one table.

    `link`: each answer has the address of the next page at the JSON pointer `next`, without it in its Link
    header. `cursor`: it has the value of `param` for the next page at `next`. `number`: `param` counts from
    `first` by `step`, until a page has no records, or is not there (404) behind the first. `param` stands in
    the URL, of a POST in its JSON. With `max_pages` the table ends there; without it more than 100 pages fail.
    `timeout_s`: for all pages together.
    """

    by: Literal["link", "number", "cursor"]
    next: Pointer = ""
    param: Annotated[str, Field(max_length=200)] = ""
    first: Annotated[int, Field(ge=0, le=1_000_000)] = 1
    step: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    max_pages: Annotated[int, Field(ge=1, le=MAX_PAGES)] | None = None
    timeout_s: Annotated[float, Field(gt=0, le=MAX_PAGES_S)] = 120

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.by == "cursor" and not (self.next and self.param):
            raise ValueError("Pages by cursor need `next`, the place of the cursor, and `param`, its parameter")
        if self.by == "number" and (self.next or not self.param):
            raise ValueError("Pages by number need `param`, the parameter that counts, and no `next`")
        return self


class HttpRequest(WorkflowPart):
    """A request to a host that is allowed; its JSON answer becomes a table.

    `records`: JSON pointer to the list of records; without it an answer such as `{"data": [...], "next": 2}` is
    that list. `pages`: without them the table is the first page. `secret`: name of the secret that authorizes
    it. A request that is no GET is sent again after a crash only if it is `repeatable`.
    """

    method: Literal["GET", "POST"] = "GET"
    url: HttpUrl
    params: Annotated[dict[str, str], Field(max_length=50)] = Field(default_factory=dict)
    headers: Annotated[dict[str, str], Field(max_length=50)] = Field(default_factory=dict)
    json_body: Any = Field(default=None, alias="json")
    secret: SecretName | None = None
    header_of_secret: Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,100}$")] = "Authorization"  # noqa: S105
    scheme: Annotated[str, Field(max_length=20)] = "Bearer "
    records: Pointer = ""
    pages: AnswerPages | None = None
    timeout_s: Annotated[float, Field(gt=0, le=30)] = 30
    retries: Annotated[int, Field(ge=0, le=MAX_RETRIES)] = 2
    repeatable: bool = False


class Notify(WorkflowPart):
    """Sends a message once its inputs are done, or, with `when: failed`, once the run has failed.

    `to`: an address of e-mail, the URL of a webhook, or the name of a secret that holds it. Without it an
    e-mail goes to the owner. `text` may name values of nodes before it: `{{node.rows}}`, `{{node.column}}` of
    its first row, `{{node.figure}}` of a condition, and `{{node.headline}}`, `target`, `metric`, `value` and
    `model_id` of a study.
    """

    channel: Literal["email", "slack", "webhook"]
    to: Annotated[str, Field(min_length=1, max_length=2_000)] | None = None
    subject: Annotated[str, Field(max_length=200)] = ""
    text: Annotated[str, Field(max_length=10_000)] = ""
    when: Literal["done", "failed"] = "done"
    retries: Annotated[int, Field(ge=0, le=MAX_RETRIES)] = 2
    repeatable: bool = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.to is None and self.channel != "email":
            raise ValueError(
                f"A message by {self.channel} needs `to`: a URL, or the name of a secret that holds it"
            )
        if self.channel == "email" and self.to is not None and self.to.startswith("http"):
            raise ValueError("An e-mail needs an address in `to`, not a URL")
        return self

    @property
    def secret(self) -> str | None:
        """The name of the secret that holds the address."""
        return None if self.to is None or "@" in self.to or "://" in self.to else self.to


class FigureCondition(WorkflowPart):
    """Lets its table pass if a figure of it meets a test; else the nodes behind it are skipped.

    `drops`, `rises` and `changes` compare with the last run that computed the figure by the same nodes; the
    first such run does not pass.
    """

    function: Literal["count", "min", "max", "sum", "mean"] = "count"
    column: Annotated[str, Field(max_length=1_000)] | None = None
    op: Literal["=", "!=", "<", "<=", ">", ">=", "drops", "rises", "changes"] = ">"
    value: float = 0

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.column is None) != (self.function == "count"):
            raise ValueError("`count` counts rows; every other function needs a `column`")
        return self

    def holds(self, figure: float | None, before: float | None) -> bool:
        # An empty table has no least or greatest value, which meets no test.
        if figure is None:
            return False
        if self.op in COMPARES_RUNS:
            # Without an earlier figure nothing has moved, so that a new workflow sends no message at once.
            difference = 0 if before is None else figure - before
            return {"drops": difference < 0, "rises": difference > 0, "changes": difference != 0}[self.op]
        value = self.value
        return {
            "=": figure == value,
            "!=": figure != value,
            "<": figure < value,
            "<=": figure <= value,
            ">": figure > value,
            ">=": figure >= value,
        }[self.op]


class Approve(WorkflowPart):
    """Waits until the owner approves; a refusal ends the branch."""

    text: Annotated[str, Field(min_length=1, max_length=2_000)] = "Go on?"


class RunSql(WorkflowPart):
    """One SELECT over the tables of its inputs, each named by its node."""

    sql: Annotated[str, Field(min_length=1, max_length=20_000)]


class RunPython(WorkflowPart):
    """A program over the tables of its inputs, each a DataFrame named by its node.

    It puts its table into `result`.
    """

    code: Annotated[str, Field(min_length=1, max_length=20_000)]


class Predict(WorkflowPart):
    """Predicts its table: its rows with a column `prediction`, of classes with their probabilities too.

    The model is that of `model_id`, or the newest that a study chose for the column `target`. One that
    forecasts every step gives the steps after the last row instead. With `strict` a cell that cannot be read
    fails the node, else it is a missing value.
    """

    model_id: UUID | None = None
    target: Name | None = None
    strict: bool = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.model_id is None) == (self.target is None):
            raise ValueError("Name a model by `model_id`, or the column that it predicts by `target`")
        return self


class Chart(WorkflowPart):
    """Draws its table, and lets it pass. Axes that are left out are chosen by the types of columns."""

    kind: ChartKind
    x: Name | None = None
    y: Annotated[list[Name], Field(max_length=MAX_SERIES)] = Field(default_factory=list)
    color: Name | None = None
    title: Annotated[str, Field(max_length=200)] | None = None
    moving_average: Annotated[int, Field(ge=2, le=MAX_MOVING_ROWS)] | None = None

    def make_request(self, plan: Plan) -> ChartRequest:
        return ChartRequest(plan=plan, **{name: getattr(self, name) for name in type(self).model_fields})


class Store(WorkflowPart):
    """Stores its table as a new dataset of this name, the next version of it, and lets the table pass."""

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class ForEach(WorkflowPart):
    """Runs `nodes` one after the other for the rows of each value of a column, which is named `item` there.

    Each takes what the one before gives, the first the rows of the item; texts may name `{{item.column}}`. Its
    table is that of all items. More than `max_items` values, or an item that fails, fail the node after the
    other items have run.
    """

    column: Name
    max_items: Annotated[int, Field(ge=1, le=MAX_ITEMS)] = 20
    nodes: Annotated[list[Node], Field(min_length=1, max_length=MAX_ITEM_NODES)]


class AskAgent(WorkflowPart):
    """Has the assistant of conversations answer a prompt about the tables of its inputs, named by their nodes.

    `prompt` may name values as the text of a message does. Its table is that of the answer, or one row with the
    words in the column `answer`; texts name the words `{{node.answer}}`. It reads these tables only: it sends
    nothing, knows no secret, and changes no workflow or dataset. Without a chat model it understands questions
    about tables, and fails with `agent_not_understood` for anything else.
    """

    prompt: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=MIN_PROMPT_CHARS, max_length=MAX_PROMPT_CHARS),
    ]

    @field_validator("prompt", mode="before")
    @classmethod
    def _check_prompt(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if len(value.strip()) < MIN_PROMPT_CHARS:
            raise ValueError("The prompt is empty. Write what is to be answered about the tables of its inputs")
        if len(value) > MAX_PROMPT_CHARS:
            raise ValueError(
                f"The prompt has {len(value):,} characters, and an agent reads {MAX_PROMPT_CHARS:,}. "
                "Shorten it, put data into a table that it reads, or ask in several nodes"
            )
        return value


class RunStudy(WorkflowPart):
    """Starts a study of the crew over the datasets that its inputs read or store, and waits for its result.

    With `ask` the study asks its questions, as one of a user; else it takes the defaults. A study that has not
    ended after `timeout_s` goes on, but its node fails.
    """

    goal: Annotated[str, Field(min_length=3, max_length=10_000)]
    time_budget_s: Annotated[float, Field(ge=1, le=86_400)] = 60
    ask: bool = False
    timeout_s: Annotated[float, Field(ge=1, le=MAX_STUDY_WAIT_S)] = 86_400


def _now() -> datetime:
    return datetime.now(UTC)
