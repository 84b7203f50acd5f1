"""The workflows that a conversation makes and changes, as tools and policies see them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from app.json_types import JsonValue
from app.sessions.step_scope import StepScope

RUN_TOOLS = ("run_workflow", "retry_run", "answer_run", "read_run")
"""Tools whose answer is the card of a run."""


@dataclass(frozen=True)
class MessagePipeline:
    """A sentence with a source of its own, as rules read it. `source`: a node, as `{type, config}`.

    `steps`: those to run now, the source first; without them a new workflow is made of the source and `words`,
    which are those behind the source with the schedule. With `steps`, `words` are what is asked of their table.
    `question`: what has to be said first. `names_source`: it says what it reads, so it is about no answer.
    """

    source: Mapping[str, Any] = field(default_factory=dict)
    words: str = ""
    steps: Sequence[Mapping[str, Any]] = ()
    question: str = ""
    names_source: bool = True


@dataclass(frozen=True)
class NamedWorkflow:
    """A saved workflow. `label`: its name; of several with one name, with the time of its last change."""

    id: str
    label: str


@dataclass(frozen=True)
class RequestedRun:
    """A request to run a saved workflow now. `workflows`: those that its words may name.

    `is_named`: it has words for one. Without them it means the one that the conversation is about (`run it`),
    or any (`run the workflow`: `says_workflow`). `is_guess`: the words are only near to the names.
    """

    workflows: Sequence[NamedWorkflow] = ()
    is_named: bool = False
    says_workflow: bool = False
    is_guess: bool = False


@dataclass(frozen=True)
class MessageLane:
    """The lane of a message: `execute`, `patch` or `unclear`. `is_edit`: of a step that there is.

    `workflow`: id of the workflow that the conversation is about, or of the only one. `run`: one to run now.
    """

    lane: str = "execute"
    reason: str = ""
    is_edit: bool = False
    workflow: str | None = None
    pipeline: MessagePipeline | None = None
    run: RequestedRun | None = None


@dataclass(frozen=True)
class WorkflowCard:
    """A saved workflow. `nodes`: `{id, type}` each; `requests`: `{id, config}` of its HTTP requests.

    `document`: nodes and edges, where it was read alone. `change` and `difference`: of the version that a turn
    saved. `next_runs`: times of its schedules, `schedule`: the same by their clocks, with their time zones.
    """

    id: str
    name: str
    version: int
    nodes: Sequence[Mapping[str, Any]] = ()
    requests: Sequence[Mapping[str, Any]] = ()
    document: Mapping[str, Any] = field(default_factory=dict)
    change: str = ""
    difference: str = ""
    next_runs: Sequence[str] = ()
    schedule: str = ""


@dataclass(frozen=True)
class NodeOutcome:
    """A node of a run: how it ended, and what it made."""

    id: str
    status: str
    rows: int | None = None
    error: str | None = None
    answer: str | None = None
    headline: str | None = None
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class RunPrompt:
    """The open question of a run, with the answers to choose from."""

    key: str
    text: str
    options: Sequence[str] = ()


@dataclass(frozen=True)
class RunCard:
    """A run of a saved workflow. `outcome`: `succeeded` or `failed` once it has ended. `workflow`: an id.

    `waits_for`: the study that it waits for. `table`: name of the table of the conversation with its last rows.
    """

    id: str
    workflow: str
    name: str
    version: int
    status: str
    outcome: str | None = None
    error: str | None = None
    question: RunPrompt | None = None
    waits_for: str | None = None
    nodes: Sequence[NodeOutcome] = ()
    table: str = ""


@dataclass(frozen=True)
class RequestedChange:
    """A wish for a change: `operations` (RFC 6902), or `words`. `workflow`: id or name of a saved one.

    Without it a new workflow is made of `plan` or `sql` over the datasets of the conversation, with a `chart`
    of it, or of `steps`.
    """

    words: str = ""
    operations: Sequence[Mapping[str, Any]] = ()
    workflow: str | None = None
    plan: Mapping[str, Any] | None = None
    sql: str | None = None
    chart: Mapping[str, Any] | None = None
    steps: Sequence[Mapping[str, Any]] = ()
    name: str | None = None


@dataclass(frozen=True)
class ChangePreview:
    """A change before it is saved. `workflow`: the name of what is changed; `is_new`: it is made.

    `schedule`: the next times of its schedules, with their time zones.
    """

    workflow: str
    is_new: bool
    summary: str
    difference: str
    schedule: str = ""


@dataclass(frozen=True)
class PlannedDocument:
    """The document that a change makes, which nothing has saved, and a sentence that says what changed."""

    document: Mapping[str, Any]
    summary: str
    difference: str


@dataclass(frozen=True)
class ComputedTable:
    """The table of an execution: digest of its rows, the first rows, and the charts that were drawn."""

    digest: str
    columns: Sequence[Mapping[str, Any]]
    rows: Sequence[Sequence[Any]]
    row_count: int
    size_bytes: int = 0


@dataclass(frozen=True)
class FollowedRun:
    """A run as far as it has come, and its table. `table`: None before its end, and for a run without rows."""

    card: RunCard
    table: ComputedTable | None = None


class ConversationWorkflows(Protocol):
    """The workflows of the owner of a conversation. Each command is safe to repeat with the same key."""

    async def list(self) -> Sequence[WorkflowCard]:
        """List the last changed workflows, the newest first."""
        ...

    async def classify(self, message: str, workflow: str | None) -> MessageLane:
        """Judge a message. Names of nodes of the workflow count as its parts."""
        ...

    async def read(self, workflow: str) -> WorkflowCard:
        """Read a workflow by id or name. Raises ToolRefused with the names that there are."""
        ...

    async def preview(self, key: str, change: RequestedChange) -> ChangePreview:
        """Say what a change would change. Raises LabError with what is unclear or wrong about it."""
        ...

    async def plan(self, change: RequestedChange, document: Mapping[str, Any] | None) -> PlannedDocument:
        """Apply a change to a document, or make a new one, and save nothing. Raises ToolRefused.

        Faults that the document has already are no reason to refuse.
        """
        ...

    async def save(self, key: str, change: RequestedChange) -> WorkflowCard:
        """Save what was previewed. Raises Conflict if somebody else has changed the workflow since."""
        ...

    async def execute(
        self, step: StepScope, key: str, steps: Sequence[Mapping[str, JsonValue]]
    ) -> ComputedTable:
        """Run steps once, each over the table of the one before. Raises LabError with the step that failed."""
        ...

    async def asks_to_run(self, message: str, workflow: str) -> bool:
        """Check if the words of a message ask for a run of this workflow, so that nobody has to approve it.

        A message without a name (`run it`) may mean any. Raises ToolRefused for a name that is none.
        """
        ...

    async def run(self, step: StepScope, key: str, workflow: str) -> FollowedRun:
        """Run a saved workflow by id or name, and follow it. Raises ToolRefused for a name that is none."""
        ...

    async def retry_run(self, step: StepScope, key: str, run_id: str) -> FollowedRun:
        """Run an ended run again from its first failure, and follow that. Raises LabError."""
        ...

    async def answer_run(self, step: StepScope, run_id: str, question: str, answer: str) -> FollowedRun:
        """Answer the question of a run with this key, and follow the run. Raises LabError."""
        ...

    async def read_run(self, run_id: str) -> FollowedRun:
        """Read where a run stands. Raises LabError."""
        ...
