"""The workflows that a conversation makes and changes, as tools and policies see them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from app.json_types import JsonValue
from app.sessions.step_scope import StepScope

WORKFLOW_TOOLS = ("patch_workflow", "read_workflow")
"""Tools whose answer is the card of a workflow."""


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
class MessageLane:
    """The lane of a message: `execute`, `patch` or `unclear`. `is_edit`: of a step that there is.

    `workflow`: id of the workflow that the conversation is about, or of the only one.
    """

    lane: str = "execute"
    reason: str = ""
    is_edit: bool = False
    workflow: str | None = None
    pipeline: MessagePipeline | None = None


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
class ComputedTable:
    """The table of an execution: digest of its rows, the first rows, and the charts that were drawn."""

    digest: str
    columns: Sequence[Mapping[str, Any]]
    rows: Sequence[Sequence[Any]]
    row_count: int
    size_bytes: int = 0


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

    async def save(self, key: str, change: RequestedChange) -> WorkflowCard:
        """Save what was previewed. Raises Conflict if somebody else has changed the workflow since."""
        ...

    async def execute(
        self, step: StepScope, key: str, steps: Sequence[Mapping[str, JsonValue]]
    ) -> ComputedTable:
        """Run steps once, each over the table of the one before. Raises LabError with the step that failed."""
        ...
