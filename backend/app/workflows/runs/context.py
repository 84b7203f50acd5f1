"""Context of a step of a run: its document, tables and services."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple
from uuid import UUID

from app.artifacts.workspace import FrameRef, Workspace
from app.charts.renderer import ChartRenderer
from app.datasets.dataset_source import DatasetSource
from app.plans.schema import TableSchema, read_table_schema
from app.sandbox.computation_runner import ComputationRunner
from app.sessions.step_scope import SessionFacts, StepScope
from app.threads.graph import ChatContext
from app.workflows.document import WorkflowDocument, nodes_by_id
from app.workflows.fusion import name_table
from app.workflows.node_configs import RunStudy
from app.workflows.requests.client import RequestClient
from app.workflows.runs.queries import WorkflowRuns
from app.workflows.runs.schemas import NodeResult, WorkflowRunPreferences

AGENT = "workflow"
"""Author of the calls and questions of a run."""
MAX_WAIT_S = 86_400.0
"""Longest wait that a server may ask a run for, in seconds: services count their limits by days at most."""


class StoredDataset(NamedTuple):
    """A dataset that a run stored."""

    id: UUID
    name: str


ReadSecret = Callable[[str], Awaitable[str]]
FindFigure = Callable[[str], Awaitable[float | None]]
SendMail = Callable[[str | None, str, str, str], Awaitable[None]]
FindModel = Callable[[UUID | None, str | None], Awaitable[str]]
StartStudy = Callable[[UUID, UUID, RunStudy, Sequence[UUID]], Awaitable[None]]
MakeChat = Callable[[StepScope], ChatContext]
StoreDataset = Callable[[str, FrameRef, str], Awaitable[StoredDataset]]


Results = Mapping[str, NodeResult]
"""Results of the nodes that have ended, by their ids; in a `for_each` also by the names that texts use."""


@dataclass(frozen=True)
class RunServices:
    """Services of one owner. `find_figure(node)`: the figure of a condition in the run before.

    `send_mail(to, subject, text, key)`: to None it goes to the owner. `max_wait_s`: seconds that a server may
    ask to wait before something is sent again.
    `find_model(id, target)`: its digest.
    `store_dataset(name, table, key)`: stores a table once for a key.
    `start_study(run, id, study, datasets)`: starts a session once, unless the run was cancelled.
    `make_chat(step)`: the context in which the assistant answers; None where no agent is asked.
    """

    frames: Workspace
    datasets: DatasetSource
    computer: ComputationRunner
    client: Callable[[], Awaitable[RequestClient]]
    read_secret: ReadSecret
    find_figure: FindFigure
    send_mail: SendMail
    earlier_runs: WorkflowRuns
    find_model: FindModel
    store_dataset: StoreDataset
    renderer: ChartRenderer
    start_study: StartStudy
    make_chat: MakeChat | None = None
    max_wait_s: float = MAX_WAIT_S


@dataclass(frozen=True)
class RunContext:
    """`item`: the document of one item of a `for_each`; `names`: ids of its nodes -> ids in the workflow.

    `open_document`: the document without inputs that are closed. `attempt`: that of the node, from 1.
    """

    step: StepScope
    services: RunServices
    item: WorkflowDocument | None = None
    open_document: WorkflowDocument | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    attempt: int = 1

    @property
    def session(self) -> SessionFacts:
        return self.step.session

    @cached_property
    def document(self) -> WorkflowDocument:
        # A run keeps its document as the goal of its session: later versions do not change it.
        return self.item or self.open_document or WorkflowDocument.model_validate_json(self.session.goal)

    @cached_property
    def preferences(self) -> WorkflowRunPreferences:
        return WorkflowRunPreferences.model_validate(self.session.preferences)

    async def dataset_tables(self) -> dict[UUID, str]:
        return {dataset.id: dataset.table for dataset in await self.services.datasets.list()}

    async def read_tables(self) -> tuple[dict[str, str], Mapping[str, TableSchema]]:
        """Return digest and schema of each table: those of datasets, and those that nodes have made."""
        datasets = await self.services.datasets.list()
        names = {dataset.id: dataset.table for dataset in datasets}
        digests = {dataset.table: dataset.digest for dataset in datasets}
        schemas = {dataset.table: read_table_schema(dataset.columns) for dataset in datasets}
        nodes = nodes_by_id(self.document)
        for frame in await self.services.frames.frames():
            if frame.name not in nodes:  # made by an agent on its way
                continue
            name = name_table(frame.name, names)
            digests[name] = frame.digest
            schemas[name] = read_table_schema(frame.meta.get("columns", []))
        return digests, schemas
