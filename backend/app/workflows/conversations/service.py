"""The workflows of an owner, as a conversation makes and changes them: saved as they were previewed."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID, uuid5

from pydantic import TypeAdapter, ValidationError

from app.db.keyset import PageRequest
from app.errors import InvalidInput, LabError, ToolRefused
from app.modeling.problem.name_resolution import hint_names, nearest_names
from app.sessions.events.serialization import request_digest
from app.sessions.step_scope import SessionFacts, StepScope
from app.tools.context.conversation_workflows import (
    ChangePreview,
    ComputedTable,
    FollowedRun,
    MessageLane,
    NamedWorkflow,
    PlannedDocument,
    RequestedChange,
    WorkflowCard,
)
from app.workflows.authors import Author
from app.workflows.conversations.answer_documents import (
    make_plan_document,
    make_sql_document,
)
from app.workflows.conversations.lanes import classify_message, make_requested_run
from app.workflows.conversations.pipelines import Pipelines, require_fitting
from app.workflows.conversations.runs import ConversationRuns
from app.workflows.cron import load_zone
from app.workflows.differences import compare_documents
from app.workflows.document import WorkflowDocument
from app.workflows.document_check import DocumentCheck
from app.workflows.fusion import parse
from app.workflows.intent.cues import META
from app.workflows.node_configs import Trigger
from app.workflows.patching import Operations, apply_patch
from app.workflows.phrases.run_phrases import match_names, read_run_words
from app.workflows.pipeline_documents import make_steps_document
from app.workflows.proposals import ProposalService, ProposedChange, propose_by_operations, propose_by_words
from app.workflows.schemas import WorkflowSummary, WorkflowView
from app.workflows.service import WorkflowService

MAX_LISTED = 20
"""Workflows that an assistant is told about: the last changed."""
MAX_NAMED = 1_000
"""Workflows among which one is found by its name: all that a user may have."""
MAX_NAME_CHARS = 80
"""Characters of the name of a workflow that was made of a question."""
NEXT_RUNS = 3
"""Times of the next runs that a change shows."""
_OPERATIONS: TypeAdapter[Any] = TypeAdapter(Operations)
EMPTY = WorkflowDocument(nodes=[], edges=[])


class _Planned(NamedTuple):
    """A change that fits. `saved`: the workflow that is changed, None for a new one."""

    saved: WorkflowView | None
    change: ProposedChange
    name: str


@dataclass(frozen=True)
class OwnerWorkflows:
    """`ConversationWorkflows` of one turn."""

    turn: SessionFacts
    workflows: WorkflowService
    proposals: ProposalService
    check: DocumentCheck
    pipelines: Pipelines
    runs: ConversationRuns

    async def list(self) -> Sequence[WorkflowCard]:
        page = await self.workflows.list_workflows(PageRequest(limit=MAX_LISTED))
        return [_make_card(await self.workflows.get(summary.id)) for summary in page.items]

    async def classify(self, message: str, workflow: str | None) -> MessageLane:
        document = (await self.workflows.get(UUID(workflow))).document if workflow else None
        datasets = await self.check.read_datasets_by_id(self.turn.dataset_ids)
        lane = await classify_message(message, document, datasets, self.check, workflow)
        words = read_run_words(message)
        if words is None:
            return lane
        page = await self.workflows.list_workflows(PageRequest(limit=MAX_NAMED))
        names = [summary.name for summary in page.items]
        return replace(lane, run=make_requested_run(words, _name_workflows(page.items), names, lane.lane))

    async def read(self, workflow: str) -> WorkflowCard:
        view = await self._find(workflow)
        return WorkflowCard(**{**asdict(_make_card(view)), "document": view.document.to_json()})

    async def preview(self, key: str, change: RequestedChange) -> ChangePreview:
        planned = await self._plan(change)
        # Stored before it is shown, so that what is saved after the approval is what was seen.
        if planned.saved is not None:
            await self._propose(key, change, planned)
        before = planned.saved.document if planned.saved else EMPTY
        return ChangePreview(
            planned.name,
            planned.saved is None,
            planned.change.summary,
            compare_documents(before, planned.change.document).text,
            _describe_times(_list_next_runs(planned.change.document)),
        )

    async def plan(self, change: RequestedChange, document: Mapping[str, Any] | None) -> PlannedDocument:
        before = EMPTY if document is None else WorkflowDocument.model_validate(document)
        if document is None:
            planned = (await self._plan(replace(change, workflow=None))).change
        else:
            with _refusing_unclear():
                planned = await self._change_document(before, change)
            faults = {fault.message for fault in await self.check.find_faults(before)}
            later = await self.check.find_faults(planned.document)
            require_fitting([fault for fault in later if fault.message not in faults])
        difference = compare_documents(before, planned.document).text
        return PlannedDocument(planned.document.to_json(), planned.summary, difference)

    async def _change_document(self, document: WorkflowDocument, change: RequestedChange) -> ProposedChange:
        if not change.operations:
            return await propose_by_words(document, change.words, self.check, self._time_zone)
        return propose_by_operations(document, _read_operations(change), change.words)

    async def save(self, key: str, change: RequestedChange) -> WorkflowCard:
        author = Author("conversation", self.turn.id)
        # A new workflow needs no proposal: nobody can have changed it since it was shown.
        if change.workflow is None:
            planned = await self._plan(change)
            request_key = f"turn {self._key(key, change)}"
            document, summary = planned.change.document, planned.change.summary
            view = await self.workflows.create(planned.name, document, summary, author, request_key)
            return _describe(view, summary, compare_documents(EMPTY, document).text)
        saved = await self._find(change.workflow)
        proposal_id = self._key(key, change)
        try:
            proposal = await self.proposals.get(proposal_id)
        except LabError:  # nobody was asked: the owner allowed such changes
            proposal = await self._propose(key, change, await self._plan(change))
        accepted = await self.proposals.accept(proposal.id, author)
        view = await self.workflows.get(saved.id)
        return _describe(view, accepted.summary, proposal.difference.text)

    async def execute(self, step: StepScope, key: str, steps: Sequence[Mapping[str, Any]]) -> ComputedTable:
        return await self.pipelines.execute(step, key, steps)

    async def asks_to_run(self, message: str, workflow: str) -> bool:
        words = read_run_words(message)
        if words is None or not words.name:
            return words is not None
        own_id = (await self._find(workflow)).id
        summaries = (await self.workflows.list_workflows(PageRequest(limit=MAX_NAMED))).items
        places = match_names(words, [summary.name for summary in summaries]).places
        return any(summaries[place].id == own_id for place in places)

    async def run(self, step: StepScope, key: str, workflow: str) -> FollowedRun:
        return await self.runs.run(step, key, await self._find(workflow))

    async def retry_run(self, step: StepScope, key: str, run_id: str) -> FollowedRun:
        return await self.runs.retry(step, key, _read_id(run_id))

    async def answer_run(self, step: StepScope, run_id: str, question: str, answer: str) -> FollowedRun:
        return await self.runs.answer(step, _read_id(run_id), question, answer)

    async def read_run(self, run_id: str) -> FollowedRun:
        return await self.runs.read(_read_id(run_id))

    async def _propose(self, key: str, change: RequestedChange, planned: _Planned) -> Any:
        if planned.saved is None:
            raise ToolRefused("There is no such workflow.")
        words = change.words[:500] or planned.change.summary[:500]
        return await self.proposals.create(planned.saved, planned.change, words, self._key(key, change))

    @property
    def _time_zone(self) -> str:
        return str(self.turn.preferences.get("time_zone") or "UTC")

    def _key(self, key: str, change: RequestedChange) -> UUID:
        """Return the id of a change: another one after the user has changed the arguments of the call."""
        return uuid5(self.turn.id, f"{key} {request_digest(asdict(change))}")

    async def _plan(self, change: RequestedChange) -> _Planned:
        """Apply a change to a copy. Raises ToolRefused with what is unclear or does not fit."""
        with _refusing_unclear():
            planned = await self._plan_existing(change) if change.workflow else await self._plan_new(change)
        require_fitting(await self.check.find_faults(planned.change.document))
        return planned

    async def _plan_existing(self, change: RequestedChange) -> _Planned:
        saved = await self._find(change.workflow or "")
        return _Planned(saved, await self._change_document(saved.document, change), saved.name)

    async def _plan_new(self, change: RequestedChange) -> _Planned:
        document = await self._make_document(change)
        summary = "Save it as a workflow."
        if change.operations:
            document = apply_patch(document, _read_operations(change))
        # Words such as `save it as a workflow` ask for the workflow itself, not for a change of it.
        elif change.words and not META.search(change.words.strip().lower()):
            proposed = await propose_by_words(document, change.words, self.check, self._time_zone)
            document, summary = proposed.document, proposed.summary
        name = (change.name or change.words or "Workflow")[:MAX_NAME_CHARS]
        return _Planned(None, ProposedChange(document, [], summary), name)

    async def _make_document(self, change: RequestedChange) -> WorkflowDocument:
        datasets = await self.check.read_datasets_by_id(self.turn.dataset_ids)
        if change.plan is not None:
            return make_plan_document(change.plan, change.chart, datasets)
        if change.sql is not None:
            return make_sql_document(change.sql, datasets)
        if change.steps:
            return make_steps_document(change.steps)
        raise ToolRefused(
            "There is no answer to make a workflow of. Ask for a table first, then say when it comes again."
        )

    async def _find(self, name: str) -> WorkflowView:
        """Find a workflow by its id or name. Raises ToolRefused with the nearest names."""
        page = await self.workflows.list_workflows(PageRequest(limit=MAX_NAMED))
        # An id first: a workflow may be named like the id of another.
        by_id = [summary for summary in page.items if str(summary.id) == name.lower()]
        matching: list[WorkflowSummary] = by_id or [
            summary for summary in page.items if summary.name.casefold() == name.casefold()
        ]
        if len(matching) == 1:
            return await self.workflows.get(matching[0].id)
        if matching:
            raise ToolRefused(f"Several workflows are named {name}: name one by its id.")
        names = [summary.name for summary in page.items]
        close = nearest_names(name, names)
        raise ToolRefused(f"There is no workflow {name}. {hint_names(close, names)}", nearest=[*close])


@contextmanager
def _refusing_unclear() -> Iterator[None]:
    """Raise ToolRefused with the examples of a change that is unclear."""
    try:
        yield
    except InvalidInput as error:
        options = error.facts.get("options")
        examples = "; ".join(map(str, options)) if isinstance(options, list | tuple) else ""
        raise ToolRefused(
            f"{error.detail} {f'For example: {examples}.' if examples else ''}".strip()
        ) from error


def _read_operations(change: RequestedChange) -> Any:
    try:
        return _OPERATIONS.validate_python([*change.operations])
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        place = "/".join(map(str, fault["loc"]))
        raise ToolRefused(f"operations/{place}: {fault['msg']}.") from error


def _read_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise ToolRefused(f"{text!r} is no id of a run.") from error


def _name_workflows(summaries: Sequence[WorkflowSummary]) -> list[NamedWorkflow]:
    """Name workflows so that each name stands for one."""
    counts = Counter(summary.name for summary in summaries)
    return [
        NamedWorkflow(
            str(summary.id),
            summary.name
            if counts[summary.name] == 1
            else f"{summary.name}, changed {summary.updated_at:%Y-%m-%d %H:%M:%S}",
        )
        for summary in summaries
    ]


def _make_card(view: WorkflowView) -> WorkflowCard:
    nodes = view.document.nodes
    return WorkflowCard(
        str(view.id),
        view.name,
        view.version,
        [{"id": node.id, "type": node.type} for node in nodes],
        [{"id": node.id, "config": node.config} for node in nodes if node.type == "http_request"],
    )


def _describe(view: WorkflowView, change: str, difference: str) -> WorkflowCard:
    card = asdict(_make_card(view))
    runs = _list_next_runs(view.document)
    facts = {"change": change, "difference": difference, "schedule": _describe_times(runs)}
    return WorkflowCard(**{**card, **facts, "next_runs": [run.at.isoformat() for run in runs]})


class _ScheduledRun(NamedTuple):
    """`at`: in the time zone of its schedule, `zone`: the name of that."""

    at: datetime
    zone: str


def _list_next_runs(document: WorkflowDocument) -> list[_ScheduledRun]:
    """List the next runs of the schedules, the first one first."""
    triggers = [
        config for node in document.nodes if isinstance(config := parse(node), Trigger) and config.enabled
    ]
    runs = [
        _ScheduledRun(tick.astimezone(load_zone(trigger.time_zone)), trigger.time_zone)
        for trigger in triggers
        for tick in trigger.next_ticks(NEXT_RUNS)
    ]
    return sorted(runs)[:NEXT_RUNS]


def _describe_times(runs: Sequence[_ScheduledRun]) -> str:
    """Describe the times of runs by the clock of their schedules, with the name of each time zone."""
    texts = []
    for zone in dict.fromkeys(run.zone for run in runs):
        times = ", ".join(f"{run.at:%Y-%m-%d %H:%M}" for run in runs if run.zone == zone)
        texts.append(f"{times} ({zone})")
    return "; ".join(texts)
