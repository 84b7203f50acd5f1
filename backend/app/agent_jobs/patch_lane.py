"""The lane of lasting changes: a patch of the workflow that came with a job, or of a saved one."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

from app.agent_jobs.message import JobMessage
from app.agent_jobs.service import JobService
from app.artifacts.workspace import Workspace
from app.errors import Conflict, InvalidInput, LabError, NotFound, Unavailable
from app.json_types import JsonValue
from app.sessions.step_scope import ArtifactDraft, Call, CallResult, SessionFacts, StepScope
from app.tools.context.conversation_workflows import PlannedDocument
from app.workflows.authors import Author
from app.workflows.differences import compare_documents
from app.workflows.document import WorkflowDocument
from app.workflows.document_check import DocumentCheck
from app.workflows.patching import PatchOperation, apply_patch, dump_operations, make_patch
from app.workflows.phrases.pipelines import read_pipeline
from app.workflows.pipeline_documents import make_steps_document
from app.workflows.proposals import ProposalService, ProposalView, ProposedChange, propose_by_words
from app.workflows.schemas import WorkflowView
from app.workflows.service import WorkflowService
from app.workflows.validation import require_valid

AGENT = "dispatcher"
CHANGE_FILE = "change.json"
MAX_NAME_CHARS = 80
"""Characters of the name of a workflow that was made of a prompt, as of one that a conversation made."""


@dataclass(frozen=True)
class ChangeServices:
    """Services of one owner."""

    jobs: JobService
    workflows: WorkflowService
    check: DocumentCheck
    proposals: ProposalService
    files: Workspace


async def change_workflow(
    step: StepScope,
    services: ChangeServices,
    message: JobMessage,
    key: str = "tool:0.0",
    planned: PlannedDocument | None = None,
) -> dict[str, Any]:
    """Make the change in a recorded call. What is unclear is a question, anything else a failure.

    `planned`: the change as a chat model has made it; without it the prompt is read by rules.
    """

    async def change() -> CallResult:
        try:
            return await _change(step.session, services, message, planned)
        # The step is tried again later; any other error would come again, and is the answer.
        except Unavailable:
            raise
        except LabError as error:
            if error.code == "change_unclear":
                options = error.facts.get("options")
                choices = list(options) if isinstance(options, list | tuple) else []
                return CallResult({"question": error.detail, "options": choices}, error.detail)
            return CallResult(
                {"failure": {"code": error.code, "message": error.detail}}, error.detail, failed=True
            )

    request: dict[str, JsonValue] = {"prompt": message.prompt}
    value = await step.call(Call(key, "tool", "patch_workflow", AGENT, request), change)
    return dict(value) if isinstance(value, Mapping) else {}


async def find_saved(services: ChangeServices, message: JobMessage) -> WorkflowView | None:
    """Find the saved workflow that a job names. Raises NotFound if it names one and brings none itself."""
    if message.workflow_tag is None:
        return None
    workflow_id = await services.jobs.find_workflow(message.workflow_tag)
    if workflow_id is None and message.current_workflow is None:
        raise NotFound("workflow_not_found", f"You have no workflow {message.workflow_tag}.")
    return None if workflow_id is None else await services.workflows.get(workflow_id)


async def load_document(services: ChangeServices, message: JobMessage) -> WorkflowDocument | None:
    """Return the workflow that came with a job, else the saved one that it names."""
    if message.current_workflow is not None:
        return message.current_workflow
    saved = await find_saved(services, message)
    return saved.document if saved else None


async def _change(
    session: SessionFacts, services: ChangeServices, message: JobMessage, planned: PlannedDocument | None
) -> CallResult:
    # Before the workflow is read: a change that was saved before a crash has made it another one.
    proposal = await _find_proposal(session.id, services)
    if proposal is not None:
        return await _resume(session.id, services, proposal, message)
    saved = await find_saved(services, message)
    document = message.current_workflow or (saved.document if saved else None)
    if document is None:
        return await _make_workflow(session, services, message, planned)
    if saved is not None and saved.document != document:
        raise Conflict(
            "workflow_changed",
            f"The saved workflow {saved.name} is another one by now: its version is {saved.version}. "
            "Read it again.",
        )
    if planned is None:
        change = await propose_by_words(document, message.prompt, services.check, message.time_zone)
    else:
        change = _make_change(document, planned)
    outcome = await _describe(services, document, change)
    if saved is not None:
        words = message.prompt[:500]
        proposal_id = _make_proposal_id(session.id)
        proposal = await services.proposals.create(saved, change, words, proposal_id)
        outcome |= await _decide(session.id, services, proposal, message)
    return await _store(services, outcome, change.summary)


async def _find_proposal(session_id: UUID, services: ChangeServices) -> ProposalView | None:
    try:
        return await services.proposals.get(_make_proposal_id(session_id))
    except NotFound:
        return None


def _make_proposal_id(session_id: UUID) -> UUID:
    return uuid5(session_id, "proposal")


async def _resume(
    session_id: UUID, services: ChangeServices, proposal: ProposalView, message: JobMessage
) -> CallResult:
    """Go on with a change that was proposed before a crash, of the version that it was proposed for."""
    before = await services.workflows.get_version(proposal.workflow_id, proposal.version)
    operations = dump_operations(proposal.operations)
    document = apply_patch(before.document, [PatchOperation.model_validate(part) for part in operations])
    change = ProposedChange(document, operations, proposal.summary)
    outcome = await _describe(services, before.document, change)
    outcome |= await _decide(session_id, services, proposal, message)
    return await _store(services, outcome, change.summary)


def _make_change(document: WorkflowDocument, planned: PlannedDocument) -> ProposedChange:
    changed = WorkflowDocument.model_validate(planned.document)
    return ProposedChange(changed, make_patch(document, changed), planned.summary)


async def _make_workflow(
    session: SessionFacts, services: ChangeServices, message: JobMessage, planned: PlannedDocument | None
) -> CallResult:
    """Make a workflow of a sentence that names its own source, and save it if the job says so."""
    check, empty = services.check, WorkflowDocument(nodes=[], edges=[])
    if planned is None:
        change = await _read_workflow(session, check, message)
    else:
        change = _make_change(empty, planned)
    outcome = await _describe(services, empty, change)
    if message.save:
        require_valid(await check.find_faults(change.document))
        # The session is in the key: a call that runs again after a crash saves no second workflow.
        author, name = Author("job", session.id), message.prompt[:MAX_NAME_CHARS]
        view = await services.workflows.create(
            name, change.document, change.summary, author, f"job {session.id}"
        )
        outcome |= {"workflow_id": str(view.id), "saved": True}
    return await _store(services, outcome, change.summary)


async def _read_workflow(session: SessionFacts, check: DocumentCheck, message: JobMessage) -> ProposedChange:
    """Read a sentence that names its own source as a new workflow. Raises InvalidInput for any other."""
    datasets = await check.read_datasets_by_id(session.dataset_ids)
    models = await check.list_models()
    pipeline = await read_pipeline(message.prompt, datasets, check.list_columns, models)
    if pipeline is not None and pipeline.question:
        raise InvalidInput("change_unclear", pipeline.question)
    if pipeline is None or pipeline.steps or not pipeline.names_source:
        raise InvalidInput(
            "workflow_missing",
            "This asks for a lasting change. Send the workflow as `current_workflow`, or its name as "
            "`workflow_tag`, or name an address or a dataset that a new one is to read.",
        )
    source = make_steps_document([pipeline.source])
    change = await propose_by_words(source, pipeline.words, check, message.time_zone)
    return change._replace(operations=make_patch(WorkflowDocument(nodes=[], edges=[]), change.document))


async def _describe(
    services: ChangeServices, document: WorkflowDocument, change: ProposedChange
) -> dict[str, Any]:
    faults = await services.check.find_faults(change.document)
    outcome = {
        "summary": change.summary,
        "difference": compare_documents(document, change.document).text,
        "patch": change.operations,
        "workflow": change.document.to_json(),
    }
    return outcome | ({"faults": [fault.model_dump(mode="json") for fault in faults]} if faults else {})


async def _decide(
    session_id: UUID, services: ChangeServices, proposal: ProposalView, message: JobMessage
) -> dict[str, Any]:
    """Accept the proposed change if the job says so, else ask. Safe to repeat."""
    facts: dict[str, Any] = {"workflow_id": str(proposal.workflow_id), "proposal": str(proposal.id)}
    if message.save:
        await services.proposals.accept(proposal.id, Author("job", session_id))
        return {**facts, "saved": True}
    question = f"Accept this change? {proposal.summary}"
    return {**facts, "saved": False, "question": question, "options": ["accept", "reject"]}


async def _store(services: ChangeServices, outcome: Mapping[str, Any], summary: str) -> CallResult:
    """Store the outcome as an artifact, and return it as the result of the call."""
    content = json.dumps(outcome, indent=1).encode()
    blob = await services.files.put(content)
    draft = ArtifactDraft("text", CHANGE_FILE, "application/json", blob.digest, len(content))
    return CallResult({**outcome, "digest": draft.digest}, summary, [draft])
