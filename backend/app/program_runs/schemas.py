"""Request and response models of the run endpoints."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, computed_field, model_validator

from app.plans.plan_document import PlanDocument
from app.program_runs.prediction_order import PredictionOrder
from app.sandbox.exchange.contract import End
from app.sessions.lifecycle import SessionStatus
from app.sessions.schemas import RUN_GRAPH, Datasets, SessionView, Text, UsageTotals

GRAPH = RUN_GRAPH

Language = Literal["python", "sql", "plan", "prediction"]
"""Language of a run. A prediction has no code: it names a model and a table; the code of a plan is its JSON."""


class WorkflowOrigin(BaseModel):
    """The node of a workflow's version whose output a run computes."""

    id: UUID
    version: int
    node: str


class RunPreferences(BaseModel):
    """Settings of a run, stored as the preferences of its session."""

    model_config = ConfigDict(extra="forbid")

    language: Language
    session_id: UUID | None = None
    thread_id: UUID | None = None
    time_limit_s: float | None = None
    seed: int = 0
    prediction: PredictionOrder | None = None
    workflow: WorkflowOrigin | None = None


_ALIASES = {"query_type": "language", "sql": "code", "python_code": "code", "plan_json": "plan"}
"""Other names of fields -> the names they stand for."""
_LANGUAGE_OF_ALIAS = {"sql": "sql", "python_code": "python", "plan_json": "plan"}
"""Names that say in which language their text is."""


class RunCreate(BaseModel):
    """Request for a run of `code`, or of `plan`. `session_id`: run inside that session, with its frames; until
    it has ended, with its training rows only.

    Other names are understood too: `query_type` for `language`; `sql`, `python_code` and `plan_json` for the
    code or plan together with its language; `dataset_id` for a list of one.
    """

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
    thread_id: UUID | None = Field(
        default=None,
        description="The conversation of the run, whose datasets it has if it names none.",
    )
    time_limit_s: float | None = Field(default=None, gt=0, le=86_400)

    @model_validator(mode="before")
    @classmethod
    def _translate_aliases(cls, body: Any) -> Any:
        """Rename fields to those of this class. Raises ValueError where two names of one field are given."""
        if not isinstance(body, dict):
            return body
        fields = dict(body)
        for alias in [name for name in _LANGUAGE_OF_ALIAS if name in fields]:
            language = _LANGUAGE_OF_ALIAS[alias]
            if language != fields.setdefault(_language_field(fields), language):
                raise ValueError(f"`{alias}` does not fit the language {fields[_language_field(fields)]}.")
        for alias, name in _ALIASES.items():
            if alias in fields:
                if name in fields:
                    raise ValueError(f"Send `{name}` or `{alias}`, not both.")
                fields[name] = fields.pop(alias)
        if "dataset_id" in fields:
            if "dataset_ids" in fields:
                raise ValueError("Send `dataset_ids` or `dataset_id`, not both.")
            fields["dataset_ids"] = [fields.pop("dataset_id")]
        return fields

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
            language=self.language,
            session_id=self.session_id,
            thread_id=self.thread_id,
            time_limit_s=self.time_limit_s,
        )


def _language_field(fields: Mapping[str, object]) -> str:
    return "query_type" if "query_type" in fields else "language"


class PredictionRun(BaseModel):
    """A run that predicts a table. `goal` describes it to a reader."""

    goal: str
    dataset_ids: list[UUID]
    order: PredictionOrder

    @property
    def preferences(self) -> RunPreferences:
        return RunPreferences(language="prediction", prediction=self.order)


class RunStatus(StrEnum):
    """`rejected`: refused before anything ran, by the policy or because a table is missing."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    REJECTED = "rejected"
    CANCELLED = "cancelled"


class RunStatusView(BaseModel):
    """`run_id` is `id` again, as other answers name it."""

    id: UUID
    status: RunStatus

    @computed_field  # type: ignore[prop-decorator]  # as pydantic documents it
    @property
    def run_id(self) -> UUID:
        return self.id


class RunSummary(RunStatusView):
    """`query_mode` is `language` again, as the filter is named."""

    code: str
    language: Language
    thread_id: UUID | None = None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None

    @computed_field  # type: ignore[prop-decorator]  # as pydantic documents it
    @property
    def query_mode(self) -> Language:
        return self.language


class RunTable(BaseModel):
    """The table that a query answered or a program left: its first rows, and the number of all."""

    model_config = ConfigDict(extra="forbid")

    columns: list[str]
    rows: list[list[Any]]
    row_count: int
    truncated: bool = Field(description="There are more rows than `rows` holds; `result.parquet` has all.")


class RunArtifact(BaseModel):
    """A file of a run. Its bytes: GET /artifacts/{id}."""

    id: UUID
    kind: str = Field(examples=["figure"])
    name: str = Field(examples=["figure-1.png"])
    media_type: str
    size_bytes: int


class RunFailure(BaseModel):
    """Failure of a program, a query or the run. `line` of the program, where it is known."""

    code: str
    message: str
    line: int | None = None


class RunView(RunSummary):
    """A run with its code, its inputs, its outcome and its usage.

    `outcome.end` is `returned`, `raised`, `timed_out`, `out_of_memory`, ... or the code of a refusal.
    `result` is `table` again, `python_code` and `dataset_id` are `code` of a program and the one of
    `dataset_ids`: other services name them so. `error` is `failure`, else why the run itself failed.
    """

    dataset_ids: list[UUID]
    session_id: UUID | None
    outcome: dict[str, Any] | None
    error: RunFailure | None
    usage: UsageTotals
    table: RunTable | None = Field(
        default=None, description="The answer of a query or plan, or the frame that a program left."
    )
    value: Any = Field(default=None, description="`result` of a program that is no frame, as JSON.")
    compiled_sql: str | None = Field(default=None, description="The SELECT that a query or plan ran as.")
    plan_json: dict[str, Any] | None = Field(default=None, description="The plan of a run of a query plan.")
    artifacts: list[RunArtifact] = Field(
        default_factory=list,
        description="The first 100 files of the run, by name; all are artifacts of the session with its id.",
    )
    stdout: str = ""
    stderr: str = ""
    failure: RunFailure | None = None
    duration_ms: float | None = Field(default=None, description="Time of the computation, without the queue.")
    exit_code: int | None = Field(
        default=None, description="0 if the program returned, 124 if its time ran out, else 1."
    )
    provider: Literal["process", "docker"] | None = Field(
        default=None, description="Where the cell ran: a process of the host, or a container."
    )
    isolation: str | None = Field(
        default=None, description="Isolation of the cell: `namespaces+lsm`, `lsm-only` or `none`."
    )

    @computed_field  # type: ignore[prop-decorator]  # as pydantic documents it
    @property
    def dataset_id(self) -> UUID | None:
        return self.dataset_ids[0] if len(self.dataset_ids) == 1 else None

    @computed_field  # type: ignore[prop-decorator]  # as pydantic documents it
    @property
    def python_code(self) -> str | None:
        return self.code if self.language == "python" else None

    @computed_field  # type: ignore[prop-decorator]  # as pydantic documents it
    @property
    def result(self) -> RunTable | None:
        return self.table

    @classmethod
    def from_session_view(cls, session: SessionView, artifacts: Sequence[RunArtifact] = ()) -> Self:
        preferences = RunPreferences.model_validate(session.preferences)
        status = RUN_STATUS[session.status]
        result = session.result.model_dump(exclude_unset=True) if session.result else None
        outcome = _Outcome.model_validate(result) if result else None
        # A session whose program failed has completed: the failure is its result.
        if outcome and outcome.end != End.RETURNED:
            status = read_failed_status(outcome.end)
        fields = outcome.view_fields(preferences.language, session.goal) if outcome else {}
        error = fields.get("failure")
        if session.error:
            error = RunFailure(code=session.error.code, message=session.error.detail)
        return cls(
            **fields,
            id=session.id,
            status=status,
            code=session.goal,
            created_at=session.created_at,
            started_at=session.started_at,
            ended_at=session.ended_at,
            language=preferences.language,
            plan_json=json.loads(session.goal) if preferences.language == "plan" else None,
            dataset_ids=session.dataset_ids,
            session_id=preferences.session_id,
            thread_id=preferences.thread_id,
            artifacts=list(artifacts),
            outcome=result,
            error=error,
            usage=UsageTotals(**session.usage.model_dump(include=set(UsageTotals.model_fields))),
        )


class _Outcome(BaseModel):
    """The recorded outcome of a run; its members depend on the language and on the end.

    `rows`: the first rows of a query, the number of rows of a prediction.
    """

    model_config = ConfigDict(extra="ignore")

    end: str
    detail: str = ""
    stdout: str = ""
    stderr: str = ""
    columns: list[dict[str, Any] | str] | None = None
    rows: list[list[Any] | dict[str, Any]] | int = []
    row_count: int | None = None
    result: Any = None
    sql: str | None = None
    usage: dict[str, float] = {}
    provider: Literal["process", "docker"] | None = None
    isolation: str | None = None

    def view_fields(self, language: Language, code: str) -> dict[str, Any]:
        """Members of `RunView` that the outcome gives."""
        is_returned = self.end == End.RETURNED
        line = _LINE.search(self.detail)
        failure = RunFailure(code=self.end, message=self.detail, line=int(line.group(1)) if line else None)
        table = self._table()
        frame = _read_frame(self.result) if table is None else None
        return {
            "table": table or frame,
            "value": None if frame else self.result,
            "compiled_sql": self.sql or (code if language == "sql" else None),
            "stdout": self.stdout,
            "stderr": self.stderr,
            "failure": None if is_returned else failure,
            "duration_ms": round(self.usage["wall_s"] * 1000, 3) if "wall_s" in self.usage else None,
            "exit_code": 0 if is_returned else TIMED_OUT_EXIT_CODE if self.end == End.TIMED_OUT else 1,
            "provider": self.provider,
            "isolation": self.isolation,
        }

    def _table(self) -> RunTable | None:
        if self.columns is None or self.row_count is None or isinstance(self.rows, int):
            return None
        return RunTable(
            columns=[str(column["name"]) if isinstance(column, dict) else column for column in self.columns],
            rows=[list(row.values()) if isinstance(row, dict) else row for row in self.rows],
            row_count=self.row_count,
            truncated=self.row_count > len(self.rows),
        )


def _read_frame(result: Any) -> RunTable | None:
    """Read the frame that a program left, as `answer_conversion` writes it; None for any other value."""
    if not isinstance(result, dict) or set(result) != {"columns", "rows", "row_count"}:
        return None
    try:
        return RunTable(**result, truncated=result["row_count"] > len(result["rows"]))
    except (TypeError, ValueError):
        return None  # a mapping of the program's own with these keys


REFUSALS = frozenset(
    {
        "code_not_allowed",
        "function_not_admitted",
        "plan_invalid",
        "sql_invalid",
        "sql_not_admitted",
        "sql_too_long",
        "unknown_column",
        "unknown_table",
    }
)
"""Codes of what is refused before any of it runs."""


def read_failed_status(end: str) -> RunStatus:
    """Return the status of a run whose program or query ended otherwise than by returning."""
    if end == End.TIMED_OUT:
        return RunStatus.TIMED_OUT
    return RunStatus.REJECTED if end in REFUSALS else RunStatus.FAILED


# As `sandbox.program` writes the place of an error.
_LINE = re.compile(r"\bLine (\d{1,9}): ")
TIMED_OUT_EXIT_CODE = 124
"""Exit code of a run whose time ran out, as of `timeout` in GNU coreutils."""

RUN_STATUS: dict[SessionStatus, RunStatus] = {
    SessionStatus.QUEUED: RunStatus.QUEUED,
    SessionStatus.RUNNING: RunStatus.RUNNING,
    SessionStatus.AWAITING_USER: RunStatus.RUNNING,
    SessionStatus.AWAITING_FITS: RunStatus.RUNNING,
    SessionStatus.CANCELLING: RunStatus.RUNNING,
    SessionStatus.COMPLETED: RunStatus.SUCCEEDED,
    SessionStatus.FAILED: RunStatus.FAILED,
    SessionStatus.CANCELLED: RunStatus.CANCELLED,
}
