"""Runs of saved workflows that conversations begin, follow and answer."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID, uuid5

from app.errors import Conflict, NotFound
from app.program_runs.schemas import WorkflowOrigin
from app.sessions.service import SessionService
from app.sessions.step_scope import ArtifactDraft, SessionFacts, StepScope
from app.tools.context.conversation_workflows import ComputedTable, FollowedRun, NodeOutcome, RunCard, RunPrompt
from app.workflows.document_check import DocumentCheck
from app.workflows.runs.queries import WorkflowRuns
from app.workflows.runs.schemas import NodeResult, WholeRunView, WorkflowRunPreferences, make_whole_run
from app.workflows.schemas import WorkflowView
from app.workflows.service import WorkflowService
from app.workflows.validation import require_valid

MAX_RUN_WAIT_S = 30.0
"""Seconds that a turn waits for a run: a person looks on for so long, and the run goes on without the turn."""
_TRIGGER = "conversation"


@dataclass(frozen=True)
class ConversationRuns:
    """The runs of one turn. `sessions`: those of the graph of workflows."""

    turn: SessionFacts
    workflows: WorkflowService
    check: DocumentCheck
    sessions: SessionService
    runs: WorkflowRuns

    async def run(self, step: StepScope, key: str, saved: WorkflowView) -> FollowedRun:
        """Begin a run once for each key, and follow it. Raises InvalidInput for one that does not fit."""
        # The same id after a crash: the step finds the run that it began.
        run_id = uuid5(self.turn.id, f"run {key}")
        try:
            await self.runs.get(run_id)
        except NotFound:  # the version that is the newest now, whatever is saved while a crash is mended
            require_valid(await self.check.find_faults(saved.document))
            origin = WorkflowOrigin(id=saved.id, version=saved.version, node="")
            request = make_whole_run(saved.document, WorkflowRunPreferences(workflow=origin, trigger=_TRIGGER))
            await self.sessions.create(self.turn.owner_id, request, session_id=run_id)
        return await self._follow(step, run_id)

    async def retry(self, step: StepScope, key: str, former: UUID) -> FollowedRun:
        """Go on from the first failure of a run, once for each key. Raises Conflict, NotFound."""
        run_id = uuid5(self.turn.id, f"retry {key}")
        request = await self.runs.read_retry(former, None)
        await self.sessions.create(self.turn.owner_id, request, session_id=run_id)
        return await self._follow(step, run_id)

    async def answer(self, step: StepScope, run_id: UUID, question: str, answer: str) -> FollowedRun:
        """Answer the question of a run with this key, and follow the run. Raises NotFound."""
        # Answered before: by this call before a crash, or by somebody who was faster on the page.
        with contextlib.suppress(Conflict):
            await self.sessions.respond(self.turn.owner_id, run_id, question, answer)
        return await self._follow(step, run_id)

    async def read(self, run_id: UUID) -> FollowedRun:
        """Read where a run stands. Raises NotFound."""
        view = await self.runs.get(run_id)
        name = (await self.workflows.get(view.workflow_id)).name
        table = find_table(view.nodes, await self.runs.list_frames(run_id)) if view.ended_at else None
        return FollowedRun(_make_card(view, name), table)

    async def _follow(self, step: StepScope, run_id: UUID) -> FollowedRun:
        await step.wait_for_session(run_id, MAX_RUN_WAIT_S, until_question=True)
        return await self.read(run_id)


def find_table(nodes: Mapping[str, NodeResult], frames: Mapping[str, ArtifactDraft]) -> ComputedTable | None:
    """Find the table of the last node that was done and has one."""
    node_ids = [node_id for node_id, result in nodes.items() if result.status == "done" and node_id in frames]
    if not node_ids:
        return None
    last, frame = nodes[node_ids[-1]], frames[node_ids[-1]]
    return ComputedTable(frame.digest, last.columns, last.preview, last.rows or 0)


def _make_card(view: WholeRunView, name: str) -> RunCard:
    question = view.question
    return RunCard(
        id=str(view.id),
        workflow=str(view.workflow_id),
        name=name,
        version=view.version,
        status=str(view.status),
        outcome=view.outcome or ("failed" if view.ended_at else None),
        error=view.error,
        question=RunPrompt(question.key, question.text, [str(option) for option in question.options])
        if question
        else None,
        waits_for=str(view.waits_for) if view.waits_for else None,
        nodes=[_make_node(node_id, result) for node_id, result in view.nodes.items()],
    )


def _make_node(node_id: str, result: NodeResult) -> NodeOutcome:
    headline = result.study.headline if result.study else None
    return NodeOutcome(node_id, result.status, result.rows, result.error, result.answer, headline, result.notes)
