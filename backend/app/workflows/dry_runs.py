"""Dry runs of proposed changes: over the tables of the last run, without effects, compared with that run."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from pydantic import BaseModel

from app.db.pool import Database
from app.errors import Conflict, NotFound
from app.program_runs.schemas import WorkflowOrigin
from app.workflows.document import WorkflowDocument
from app.workflows.proposals import ProposalView
from app.workflows.runs.dry_nodes import WITHOUT_EFFECT
from app.workflows.runs.queries import WorkflowRuns
from app.workflows.runs.schemas import (
    DryRun,
    NodeResult,
    WholeRun,
    WholeRunView,
    WorkflowRunPreferences,
    make_whole_run,
)
from app.workflows.statements import WORKFLOWS

_COMPARED = ("status", "rows", "columns", "preview", "figure", "passes", "error")
"""What a node came to, beside how it came there."""


class OutcomeChange(BaseModel):
    """A node that comes to something else; null on the side that does not have it."""

    node: str
    before: NodeResult | None
    after: NodeResult | None


class DryRunView(BaseModel):
    """A dry run. `compared_with`: the run whose tables it began with. `changes`: empty before its end."""

    run: WholeRunView
    compared_with: WholeRunView
    changes: list[OutcomeChange]


@dataclass(frozen=True)
class DryRuns:
    db: Database
    owner: UUID

    async def make_request(self, proposal: ProposalView, document: WorkflowDocument) -> WholeRun:
        """Return the request for the dry run of a proposed document. Raises Conflict before the first run."""
        row = await self.db.row(WORKFLOWS.find_last_run, self.owner, str(proposal.workflow_id))
        if row is None:
            raise Conflict(
                "no_earlier_run",
                "A dry run begins with the tables of the last run, and no run of all nodes has ended yet. Run "
                "the workflow first, with `by_node`.",
            )
        dry = DryRun(proposal_id=proposal.id, workflow_id=proposal.workflow_id, inputs_of=row["id"])
        # As of a workflow of the proposal's id: lists, figures and tables of the workflow do not count it.
        origin = WorkflowOrigin(id=proposal.id, version=proposal.version, node="")
        payload = WorkflowRunPreferences.model_validate_json(row["preferences"]).payload
        preferences = WorkflowRunPreferences(workflow=origin, trigger="dry_run", dry=dry, payload=payload)
        return make_whole_run(document, preferences)

    async def get(self, proposal_id: UUID, run_id: UUID) -> DryRunView:
        """Raises NotFound."""
        runs = WorkflowRuns(self.db, self.owner)
        run = await runs.get(run_id)
        if run.dry is None or run.dry.proposal_id != proposal_id:
            raise NotFound("run_not_found", f"This proposal has no dry run with the id {run_id}.")
        other = await runs.get(run.dry.inputs_of)
        changes = compare_outcomes(other.nodes, run.nodes) if run.ended_at is not None else []
        return DryRunView(run=run, compared_with=other, changes=changes)


def compare_outcomes(before: Mapping[str, NodeResult], after: Mapping[str, NodeResult]) -> list[OutcomeChange]:
    """List the nodes that come to something else, without those that a dry run leaves out."""
    names = dict.fromkeys((*before, *after))
    pairs = [(name, before.get(name), after.get(name)) for name in names]
    return [
        OutcomeChange(node=name, before=former, after=result)
        for name, former, result in pairs
        if not _is_left_out(former) and not _is_left_out(result) and _summarize(former) != _summarize(result)
    ]


def _is_left_out(result: NodeResult | None) -> bool:
    return result is not None and result.code == WITHOUT_EFFECT


def _summarize(result: NodeResult | None) -> dict[str, object] | None:
    return None if result is None else result.model_dump(include=set(_COMPARED))
