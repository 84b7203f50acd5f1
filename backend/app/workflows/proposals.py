"""Proposed changes of workflows: made from words or operations, shown as a difference, accepted or rejected."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple
from uuid import UUID, uuid4

from pydantic import BaseModel, Field

from app.db.pool import Database
from app.errors import Conflict, InvalidInput, NotFound
from app.observability.metrics.workflows import WORKFLOW_VERSIONS
from app.sessions.events.serialization import dumps
from app.workflows.authors import Author
from app.workflows.differences import WorkflowDifference, compare_documents
from app.workflows.document import WorkflowDocument
from app.workflows.document_check import DocumentCheck
from app.workflows.faults import WorkflowFault
from app.workflows.intent.classification import classify_intent
from app.workflows.patching import Operations, StoredOperation, apply_patch, make_patch
from app.workflows.phrases.change import ChangeQuestion
from app.workflows.phrases.reader import read_change
from app.workflows.phrases.sentences import read_sentence
from app.workflows.schemas import WorkflowView
from app.workflows.service import MAX_VERSIONS, make_changed_error
from app.workflows.statements import PROPOSALS
from app.workflows.triggers.comparison import compare_versions
from app.workflows.validation import find_faults, require_valid

MAX_PROPOSALS = 200
"""Proposals that are kept of a workflow; the oldest go first."""


class ProposalRecord(NamedTuple):
    """A proposal with the version that it begins with. JSON: `operations`, `document`, `before`."""

    id: UUID
    workflow_id: UUID
    version: int
    message: str
    summary: str
    operations: str
    document: str
    status: str
    created_at: datetime
    decided_at: datetime | None
    before: str


class ProposalView(BaseModel):
    """A proposed change. `faults`: what keeps it from being accepted."""

    id: UUID
    workflow_id: UUID
    version: int
    message: str
    summary: str
    operations: list[StoredOperation] = Field(description="RFC 6902, from `version`.")
    difference: WorkflowDifference
    status: Literal["open", "accepted", "rejected"]
    faults: list[WorkflowFault]
    created_at: datetime
    decided_at: datetime | None


MIN_SURE_OF_DATA = 0.9
"""Confidence of questions, of wishes to see something and of what is asked for once."""


class ProposedChange(NamedTuple):
    """A changed document with the operations that make it, and a sentence that says what changed."""

    document: WorkflowDocument
    operations: list[dict[str, Any]]
    summary: str


async def propose_by_words(
    document: WorkflowDocument, message: str, check: DocumentCheck, time_zone: str
) -> ProposedChange:
    """Read a phrase as a change.

    Raises InvalidInput if it asks for data, or for a change that has to be asked about; `options` are answers.
    """
    columns, models = await check.list_columns(document), await check.list_models()
    # A lasting change that nobody asked for is worse than a refusal that says where to ask. Words that only may
    # be for data ("only rows above 100") are for the workflow that they were said to: nothing lasts until it is
    # accepted.
    intent = classify_intent(message, document)
    is_for_data = intent.lane == "execute" and intent.confidence >= MIN_SURE_OF_DATA
    if is_for_data and not read_sentence(message, document, columns, time_zone, models).is_for_good:
        raise InvalidInput(
            "not_a_change",
            "This asks for data, not for a change of the workflow. Ask it in a conversation.",
        )
    change = read_change(message, document, columns, time_zone, models)
    if isinstance(change, ChangeQuestion):
        raise InvalidInput("change_unclear", change.text, options=list(change.options), field="message")
    if change.document == document:
        raise InvalidInput("nothing_changes", f"The workflow is like that already: {change.summary}")
    return ProposedChange(change.document, make_patch(document, change.document), change.summary)


def propose_by_operations(document: WorkflowDocument, operations: Operations, message: str) -> ProposedChange:
    """Raises InvalidInput if an operation cannot be applied."""
    changed = apply_patch(document, operations)
    difference = compare_documents(document, changed)
    return ProposedChange(
        changed, [operation.to_json() for operation in operations], message or difference.text
    )


@dataclass(frozen=True)
class ProposalService:
    db: Database
    owner: UUID
    check: DocumentCheck

    async def create(
        self, workflow: WorkflowView, change: ProposedChange, message: str, proposal_id: UUID | None = None
    ) -> ProposalView:
        """Save a proposal, or return the one of this id.

        Raises InvalidInput for a document that could never be valid.
        """
        # Faults of names and columns may be mended until it is accepted; those of the document cannot.
        require_valid(find_faults(change.document))
        proposal_id = proposal_id or uuid4()
        await self.db.value(
            PROPOSALS.create_proposal,
            proposal_id,
            workflow.id,
            self.owner,
            workflow.version,
            message,
            change.summary,
            dumps(change.operations, "patch"),
            dumps(change.document.to_json(), "workflow"),
            MAX_PROPOSALS,
        )
        return await self.get(proposal_id)

    async def get(self, proposal_id: UUID) -> ProposalView:
        """Raises NotFound."""
        return await self._view(await self._get_row(proposal_id))

    async def get_document(self, proposal_id: UUID) -> tuple[ProposalView, WorkflowDocument]:
        """Return a proposal with the document that it makes. Raises NotFound."""
        row = await self._get_row(proposal_id)
        return await self._view(row), WorkflowDocument.model_validate_json(ProposalRecord(**row).document)

    async def _get_row(self, proposal_id: UUID) -> Mapping[str, Any]:
        row = await self.db.row(PROPOSALS.get_proposal, proposal_id, self.owner)
        if row is None:
            raise NotFound("proposal_not_found", f"There is no proposal with the id {proposal_id}.")
        return row

    async def list_proposals(self, workflow_id: UUID, limit: int, offset: int) -> list[ProposalView]:
        """List the proposals of a workflow, newest first."""
        rows = await self.db.rows(PROPOSALS.list_proposals, workflow_id, self.owner, limit, offset)
        return [await self._view(row) for row in rows]

    async def accept(self, proposal_id: UUID, author: Author) -> ProposalView:
        """Save the proposed version, whose author is who accepts it.

        Raises InvalidInput with its faults, Conflict if it was decided or the workflow has changed since.
        """
        proposal = await self.get(proposal_id)
        if proposal.status == "open":
            require_valid(proposal.faults)
            version = await self.db.value(
                PROPOSALS.accept_proposal, proposal_id, self.owner, MAX_VERSIONS, author.kind, author.reference
            )
            if version is not None:
                WORKFLOW_VERSIONS.labels(author.kind).inc()
            decided = await self.get(proposal_id)
            # It was not decided by somebody else, so the workflow has another version than it began with.
            if version is None and decided.status == "open":
                raise make_changed_error(proposal.workflow_id, None)
            proposal = decided
        return _require_status(proposal, "accepted")

    async def reject(self, proposal_id: UUID) -> ProposalView:
        """Raises Conflict if it was accepted."""
        await self.db.value(PROPOSALS.reject_proposal, proposal_id, self.owner)
        return _require_status(await self.get(proposal_id), "rejected")

    async def _view(self, row: Mapping[str, Any]) -> ProposalView:
        record = ProposalRecord(**row)
        document = WorkflowDocument.model_validate_json(record.document)
        difference = await compare_versions(WorkflowDocument.model_validate_json(record.before), document)
        # A decided proposal is history: datasets that went away since are none of its faults.
        faults = await self.check.find_faults(document) if record.status == "open" else []
        fields = {**record._asdict(), "operations": json.loads(record.operations)}
        return ProposalView(**{**fields, "difference": difference, "faults": faults})


def _require_status(proposal: ProposalView, status: str) -> ProposalView:
    if proposal.status != status:
        raise Conflict("proposal_decided", f"This proposal has been {proposal.status} already.")
    return proposal
