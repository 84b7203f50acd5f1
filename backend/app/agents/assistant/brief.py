"""The brief of the assistant, and the values of its tools that policy and graph read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.counts import describe_count
from app.tools.context.conversation_studies import StudyCard
from app.tools.context.conversation_workflows import MessageLane, RunCard, WorkflowCard


@dataclass(frozen=True)
class LastChart:
    """The chart of an earlier turn, as `make_chart` was asked for it."""

    kind: str
    x: str | None = None
    y: Sequence[str] = ()
    color: str | None = None
    moving_average: int | None = None


@dataclass(frozen=True)
class EarlierTurn:
    """A turn before the present one. `columns`, `sql`, `plan` and `code`: of its last successful execution.

    `changed`: tables that it made or changed; `changes_tables` is also true where it dropped some. `steps`:
    those of a pipeline that it ran. `workflow`: id of the one that it made, changed or ran, `run`: id of that
    run.
    """

    message: str
    mode: str = "auto"
    text: str = ""
    columns: Sequence[str] = ()
    row_count: int | None = None
    sql: str | None = None
    plan: Mapping[str, Any] | None = None
    code: str | None = None
    chart: LastChart | None = None
    changed: Sequence[str] = ()
    changes_tables: bool = False
    failure: str | None = None
    steps: Sequence[Mapping[str, Any]] = ()
    workflow: str | None = None
    run: str | None = None

    @property
    def has_result(self) -> bool:
        return self.failure is None and (self.sql is not None or self.code is not None)


@dataclass(frozen=True)
class ChatBrief:
    """A message, the tables of its conversation (as of `get_dataset_schema`), its earlier turns and studies."""

    message: str
    tables: Sequence[Mapping[str, Any]] = ()
    earlier: Sequence[EarlierTurn] = ()
    studies: Sequence[StudyCard] = ()
    summary: str = ""
    """What was asked and answered before `earlier`, a line for each turn; empty without any."""
    files: Sequence[str] = ()
    """Files of the conversation by path."""
    workflows: Sequence[WorkflowCard] = ()
    """Workflows of the user, the last changed first."""
    lane: MessageLane = field(default_factory=MessageLane)
    runs: Sequence[RunCard] = ()
    """The last run of a workflow in the conversation, as it stands now; empty without one."""


@dataclass(frozen=True)
class ChangeAnswer:
    """The changes of tables that an execution of SQL made."""

    changes: Sequence[Mapping[str, Any]] = ()

    def describe_rest(self, table: str, rows_before: int) -> str:
        """Say how many of its rows a table has after rows of it were removed."""
        rows = next((change["rows"] for change in self.changes if change.get("name") == table), rows_before)
        if rows == rows_before:
            return f"There were none: all {describe_count(rows_before, 'row')} stayed."
        return f"{rows:,} of {describe_count(rows_before, 'row')} are left."

    def list_copies(self) -> list[str]:
        """List the sentences about datasets of which the conversation has its own copy now."""
        return [str(change["note"]) for change in self.changes if change.get("note")]


@dataclass(frozen=True)
class QueryAnswer:
    """The value of an execution of SQL or a plan: no columns without a SELECT. `changes`: those of tables."""

    columns: Sequence[Mapping[str, Any]]
    rows: Sequence[Sequence[Any]]
    row_count: int
    truncated: bool
    sql: str
    digest: str = ""
    rows_used: int | None = None
    rows_there: int | None = None
    changes: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class ChartAnswer:
    """The value of `make_chart`. `problem`: why it was not drawn."""

    kind: str
    title: str
    row_count: int
    problem: str | None = None


@dataclass(frozen=True)
class ProgramOutcome:
    """The value of an execution of a program."""

    result: Any = None
    frames: Sequence[str] = field(default=())
    stdout: str = ""
    stderr: str = ""
    not_kept: Sequence[Mapping[str, str]] = ()
    """Variables that later programs do not have, as `{name, reason}`."""
