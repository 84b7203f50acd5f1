"""Runs of an owner: their state by node, and the figures of earlier ones."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from app.db.pool import Database
from app.errors import Conflict, InvalidInput, NotFound
from app.modeling.problem.name_resolution import nearest_names
from app.program_runs.schemas import WorkflowOrigin
from app.sessions.lifecycle import SessionStatus
from app.sessions.step_scope import ArtifactDraft
from app.workflows.document import WorkflowDocument, computes_alike
from app.workflows.node_configs import TABLE_MEDIA_TYPE, ReadResult
from app.workflows.runs.schemas import (
    InboxRunView,
    RetriedRun,
    RunQuestion,
    StudyOutcome,
    WholeRun,
    WholeRunView,
    WorkflowRunPreferences,
    make_whole_run,
)
from app.workflows.statements import WORKFLOWS

MAX_FIGURE_RUNS = 20
"""Newest runs whose figures are looked through for one that the current version can be compared with."""


class FigureRow(NamedTuple):
    """The figure of a condition, and the document of the version that computed it."""

    figure: float
    document: str


class RunRecord(NamedTuple):
    """A run. JSON: `preferences`, `result`, `step` (the update of its last step) `question` and
    `charts`."""

    id: UUID
    preferences: str
    status: str
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    result: str | None
    error: str | None
    waits_for: UUID | None
    waits_until: datetime | None
    is_waiting: bool
    step: str | None
    question: str | None
    charts: str | None


class AwaitingRunRecord(NamedTuple):
    """A run that waits for its owner. JSON: `question`."""

    id: UUID
    workflow_id: UUID
    name: str
    version: int
    question: str
    created_at: datetime


class StoredFrameRow(NamedTuple):
    """A stored table. `meta`: JSON."""

    name: str
    media_type: str
    digest: str
    size_bytes: int
    meta: str


class ResultTable(NamedTuple):
    """A stored table that a node reads."""

    digest: str
    name: str
    made_at: datetime


@dataclass(frozen=True)
class WorkflowRuns:
    db: Database
    owner: UUID

    async def get(self, run_id: UUID) -> WholeRunView:
        """Raises NotFound."""
        row = await self.db.row(WORKFLOWS.get_run, run_id, self.owner)
        if row is None:
            raise NotFound("run_not_found", f"There is no run of a workflow with the id {run_id}.")
        record = RunRecord(**row)
        preferences = WorkflowRunPreferences.model_validate_json(record.preferences)
        # The last step until the run has ended, so that nodes are seen as they end.
        content: dict[str, Any] = json.loads(record.result or record.step or "{}")
        outcome = {"returned": "succeeded", "failed": "failed"}.get(str(content.get("end")))
        return WholeRunView(
            id=record.id,
            workflow_id=preferences.saved_origin.id,
            version=preferences.workflow.version,
            status="waiting" if record.is_waiting else SessionStatus(record.status),
            outcome=outcome,
            trigger=preferences.trigger,
            tick=preferences.tick,
            retried=preferences.retried,
            dry=preferences.dry,
            nodes=content.get("nodes", {}),
            error=record.error,
            waits_for=record.waits_for,
            waits_until=record.waits_until,
            question=RunQuestion.model_validate_json(record.question) if record.question else None,
            charts=json.loads(record.charts or "{}"),
            created_at=record.created_at,
            started_at=record.started_at,
            ended_at=record.ended_at,
        )

    async def list_awaiting_user(self, limit: int, offset: int) -> list[InboxRunView]:
        """List the runs with an open question, the longest waiting first."""
        rows = await self.db.rows(WORKFLOWS.list_runs_awaiting_user, self.owner, limit, offset)
        records = [AwaitingRunRecord(**row) for row in rows]
        return [
            InboxRunView(
                **{**record._asdict(), "question": RunQuestion.model_validate_json(record.question)},
                status="awaiting_user",
                reason=None,
            )
            for record in records
        ]

    async def list_to_review(self, limit: int, offset: int) -> list[InboxRunView]:
        """List the newest run of each workflow that failed or left a doubt, the last ended first."""
        rows = await self.db.rows(WORKFLOWS.list_runs_to_review, self.owner, limit, offset)
        return [InboxRunView(**row, question=None) for row in rows]

    async def mark_seen(self, run_id: UUID) -> None:
        """Take a run and those before it of its workflow off the list of runs to review. Raises NotFound."""
        # A workflow may be deleted by now; a run that nobody has is an error.
        await self.get(run_id)
        await self.db.value(WORKFLOWS.mark_run_seen, run_id, self.owner)

    async def read_retry(self, run_id: UUID, node_id: str | None) -> WholeRun:
        """Return the request for a run that goes on from an ended one, at a node or at the first that failed.

        Raises NotFound, Conflict if it has not ended or nothing failed, InvalidInput for an unknown node.
        """
        run = await self.get(run_id)
        if run.ended_at is None:
            raise Conflict("run_not_ended", "This run has not ended. Wait for it, or cancel it.")
        if run.dry is not None:
            # Its document is not saved, and a repetition would have effects.
            raise Conflict("run_is_dry", "This is a dry run of a proposal. Accept that, then run the workflow.")
        row = await self.db.row(WORKFLOWS.get_run_document, run_id, self.owner)
        document = await self.get_document(run_id)
        first = node_id or next(
            (name for name, result in run.nodes.items() if result.status in ("failed", "unknown")), None
        )
        if first is None:
            raise Conflict("nothing_failed", "No node of this run failed. Name one in `from_node`.")
        ids = [node.id for node in document.nodes]
        if first not in ids:
            raise InvalidInput(
                "unknown_node", f"This run has no node {first}.", nearest=nearest_names(first, ids)
            )
        origin = WorkflowOrigin(id=run.workflow_id, version=run.version, node="")
        retried = RetriedRun(id=run_id, node=first)
        former = WorkflowRunPreferences.model_validate_json(str(row["preferences"] if row else "{}"))
        preferences = WorkflowRunPreferences(
            # The chain goes on, or a retry would let workflows that trigger each other begin anew.
            workflow=origin,
            trigger="retry",
            retried=retried,
            payload=former.payload,
            chain=former.chain,
        )
        return make_whole_run(document, preferences)

    async def get_document(self, run_id: UUID) -> WorkflowDocument:
        """Return the document that a run has: the workflow may be another by now."""
        row = await self.db.row(WORKFLOWS.get_run_document, run_id, self.owner)
        return WorkflowDocument.model_validate_json(row["document"] if row else "{}")

    async def list_frames(self, run_id: UUID) -> dict[str, ArtifactDraft]:
        """Return the stored tables of a run by their nodes, to be stored with another one."""
        rows = await self.db.rows(WORKFLOWS.list_run_frames, run_id, self.owner)
        frames = [StoredFrameRow(**row) for row in rows]
        return {frame.name: ArtifactDraft("frame", *frame[:-1], json.loads(frame.meta)) for frame in frames}

    async def find_table(self, config: ReadResult) -> ResultTable | None:
        """Find the table that a node reads."""
        source: tuple[UUID | str | None, ...]
        if config.workflow_id is not None:
            statement, source = WORKFLOWS.find_table_of_node, (config.workflow_id, config.node)
        elif config.session_id is not None:
            statement, source = WORKFLOWS.find_table_of_session, (config.session_id, config.table)
        else:
            statement, source = WORKFLOWS.find_table_by_id, (config.artifact_id,)
        row = await self.db.row(statement, self.owner, TABLE_MEDIA_TYPE, *source)
        return None if row is None else ResultTable(**row)

    async def find_study(self, study_id: UUID) -> StudyOutcome | None:
        """Find the end of a study. None before that."""
        row = await self.db.row(WORKFLOWS.find_study, study_id, self.owner)
        return None if row is None else StudyOutcome(**row)

    async def find_figure(self, origin: WorkflowOrigin, node_id: str, run_ids: Sequence[UUID]) -> float | None:
        """Find the figure of a condition in the newest run that computed it, beside those of `run_ids`.

        Runs of versions that made the table of the condition otherwise do not count.
        """
        # Of the version, not of the run: a run for a new dataset reads that one, and is compared all the same.
        current = await self.db.value(WORKFLOWS.get_version_document, self.owner, origin.id, origin.version)
        if current is None:
            return None
        document = WorkflowDocument.model_validate_json(current)
        rows = await self.db.rows(
            WORKFLOWS.list_figures, self.owner, origin.id, node_id, list(run_ids), MAX_FIGURE_RUNS
        )
        for row in [FigureRow(**row) for row in rows]:
            if computes_alike(document, WorkflowDocument.model_validate_json(row.document), node_id):
                return row.figure
        return None
