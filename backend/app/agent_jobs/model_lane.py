"""Jobs with a chat model: the assistant decides the lane by the tool that it calls, and makes the patch.

`patch_workflow` saves nothing here and asks nobody: its document becomes the change of the job, which is
returned, proposed, or saved where the job says so, as a change that rules have read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.agent_jobs.message import JobMessage
from app.agent_jobs.patch_lane import ChangeServices, change_workflow
from app.agents.runtime.journal_middleware import CHAT_MODEL_FAILED
from app.errors import ToolRefused, Unavailable
from app.recorded_call import RecordedCall
from app.sessions.recorded_facts import ArtifactFacts, QuestionFacts, SessionRecords
from app.sessions.schemas import StepUsage
from app.sessions.step_scope import StepScope
from app.threads.graph import ChatContext, run_assistant
from app.tools.context.conversation_workflows import (
    ChangePreview,
    ComputedTable,
    ConversationWorkflows,
    FollowedRun,
    MessageLane,
    PlannedDocument,
    RequestedChange,
    WorkflowCard,
)
from app.tools.conversations.workflows import patch_workflow
from app.workflows.conversations.lanes import classify_message
from app.workflows.document import WorkflowDocument

CURRENT = "current_workflow"
"""Name of the workflow of a job."""
PATCH = patch_workflow.__name__
CHANGE_KEY = "tool:change"
"""Key of the change, beside those of the calls of the assistant."""
RULES_TURN = 1_000
"""Number of the first turn of rules: behind all that the chat model may have had, whose calls are recorded."""


@dataclass(frozen=True)
class JobWorkflows:
    """`ConversationWorkflows` of a job: its own workflow only, whose changes are planned and not saved.

    `document`: the workflow that the job is about; `owner`: the workflows of its owner.
    """

    owner: ConversationWorkflows
    services: ChangeServices
    step: StepScope
    document: WorkflowDocument | None

    async def list(self) -> Sequence[WorkflowCard]:
        return [] if self.document is None else [self._make_card(self.document)]

    async def classify(self, message: str, workflow: str | None) -> MessageLane:
        check = self.services.check
        datasets = await check.read_datasets_by_id(self.step.session.dataset_ids)
        return await classify_message(message, self.document, datasets, check, workflow)

    async def read(self, workflow: str) -> WorkflowCard:
        return replace(self._make_card(self._find(workflow)), document=self._find(workflow).to_json())

    async def preview(self, key: str, change: RequestedChange) -> ChangePreview:
        planned = await self.plan(change, None)
        return ChangePreview(CURRENT, self.document is None, planned.summary, planned.difference)

    async def plan(self, change: RequestedChange, document: Mapping[str, Any] | None) -> PlannedDocument:
        has_source = change.plan is not None or change.sql is not None or change.steps
        if change.workflow is None and (has_source or self.document is None):
            return await self.owner.plan(change, None)
        return await self.owner.plan(change, self._find(change.workflow or CURRENT).to_json())

    async def save(self, key: str, change: RequestedChange) -> WorkflowCard:
        planned = await self.plan(change, None)
        card = self._make_card(WorkflowDocument.model_validate(planned.document))
        return replace(card, document=planned.document, change=planned.summary, difference=planned.difference)

    async def execute(self, step: StepScope, key: str, steps: Sequence[Mapping[str, Any]]) -> ComputedTable:
        return await self.owner.execute(step, key, steps)

    async def asks_to_run(self, message: str, workflow: str) -> bool:
        return await self.owner.asks_to_run(message, workflow)

    async def run(self, step: StepScope, key: str, workflow: str) -> FollowedRun:
        return await self.owner.run(step, key, workflow)

    async def retry_run(self, step: StepScope, key: str, run_id: str) -> FollowedRun:
        return await self.owner.retry_run(step, key, run_id)

    async def answer_run(self, step: StepScope, run_id: str, question: str, answer: str) -> FollowedRun:
        return await self.owner.answer_run(step, run_id, question, answer)

    async def read_run(self, run_id: str) -> FollowedRun:
        return await self.owner.read_run(run_id)

    def _find(self, name: str) -> WorkflowDocument:
        if self.document is None or name != CURRENT:
            raise ToolRefused(
                f"This job has no workflow {name}. "
                + ("It came without one." if self.document is None else f"Its workflow is {CURRENT}.")
            )
        return self.document

    def _make_card(self, document: WorkflowDocument) -> WorkflowCard:
        nodes = [{"id": node.id, "type": node.type} for node in document.nodes]
        requests = [
            {"id": node.id, "config": node.config} for node in document.nodes if node.type == "http_request"
        ]
        return WorkflowCard(CURRENT, CURRENT, 0, nodes, requests)


@dataclass(frozen=True)
class JobRecords:
    """The records of a job's session, in which `patch_workflow` needs no approval: it saves nothing."""

    records: SessionRecords

    async def calls(self, step: StepScope) -> Sequence[RecordedCall]:
        return await self.records.calls(step)

    async def artifacts(self) -> Sequence[ArtifactFacts]:
        return await self.records.artifacts()

    async def questions(self) -> Sequence[QuestionFacts]:
        return await self.records.questions()

    async def is_tool_allowed(self, tool: str) -> bool:
        return tool == PATCH or await self.records.is_tool_allowed(tool)

    async def usage(self, step: StepScope) -> Sequence[StepUsage]:
        return await self.records.usage(step)

    async def count_look(self, step: StepScope) -> dict[str, Any] | None:
        return await self.records.count_look(step)


async def answer_by_model(
    chat: ChatContext, services: ChangeServices, message: JobMessage, document: WorkflowDocument | None
) -> dict[str, Any]:
    """Have the assistant answer a job; where its chat model fails, by its rules.

    Returns the outcome with the lane: `patch` if a workflow was changed.
    """
    owner = chat.workflows
    if owner is None:
        raise ToolRefused("Workflows are changed from conversations only.")
    workflows = JobWorkflows(owner, services, chat.step, document)
    chat = replace(chat, workflows=workflows, records=JobRecords(chat.records))
    try:
        turn = await run_assistant(chat)
    except Unavailable as error:
        if error.code != CHAT_MODEL_FAILED:
            raise
        turn = await run_assistant(chat, rules_from=RULES_TURN)
    changes: list[Any] = [
        answer.value for answer in turn.answers if answer.request.name == PATCH and answer.refusal is None
    ]
    if not changes:
        return {**turn.outcome, "lane": "execute"}
    card = changes[-1]
    planned = PlannedDocument(card["document"], card["change"], card["difference"])
    outcome = await change_workflow(chat.step, services, message, CHANGE_KEY, planned)
    return {"text": turn.outcome["text"], **outcome, "lane": "patch"}
