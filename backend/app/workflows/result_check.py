"""Check of the results that a document reads: jobs, runs and studies of its owner that exist."""

from uuid import UUID

from sqlalchemy import select

from app.artifacts.repository import HOLDOUT_KIND
from app.db.tables import ArtifactRow, SessionRow, WorkflowRow, WorkflowVersionRow
from app.db.unit_of_work import OpenUnitOfWork, UnitOfWork
from app.modeling.problem.name_resolution import nearest_names
from app.workflows.document import WorkflowDocument
from app.workflows.faults import WorkflowFault
from app.workflows.fusion import parse
from app.workflows.node_configs import TABLE_MEDIA_TYPE, ReadResult


async def find_result_faults(
    open_uow: OpenUnitOfWork, owner: UUID, document: WorkflowDocument
) -> list[WorkflowFault]:
    """Find the nodes that read a result of nobody, or of somebody else."""
    readers = [
        (f"/nodes/{place}/config", config)
        for place, node in enumerate(document.nodes)
        if isinstance(config := parse(node), ReadResult)
    ]
    if not readers:
        return []
    async with open_uow() as uow:
        faults = [await _find_fault(uow, owner, pointer, config) for pointer, config in readers]
    return [fault for fault in faults if fault is not None]


async def _find_fault(uow: UnitOfWork, owner: UUID, pointer: str, config: ReadResult) -> WorkflowFault | None:
    if config.workflow_id is not None:
        return await _find_node_fault(uow, owner, pointer, config)
    if config.session_id is not None:
        session = await uow.db.get(SessionRow, config.session_id)
        is_there, field = session is not None and session.owner_id == owner, "session_id"
    else:
        artifact = await uow.db.get(ArtifactRow, config.artifact_id)
        is_there = artifact is not None and artifact.owner_id == owner and _is_readable(artifact)
        field = "result_ref"
    if is_there:
        return None
    message = f"You have no table {config.describe()}."
    return WorkflowFault(pointer=f"{pointer}/{field}", code="result_not_found", message=message)


def _is_readable(artifact: ArtifactRow) -> bool:
    return artifact.media_type == TABLE_MEDIA_TYPE and artifact.kind != HOLDOUT_KIND


async def _find_node_fault(
    uow: UnitOfWork, owner: UUID, pointer: str, config: ReadResult
) -> WorkflowFault | None:
    current = (
        select(WorkflowVersionRow.document)
        .join(WorkflowRow, WorkflowRow.id == WorkflowVersionRow.workflow_id)
        .where(WorkflowRow.id == config.workflow_id, WorkflowRow.owner_id == owner)
        .where(WorkflowVersionRow.n == WorkflowRow.version)
    )
    content = await uow.db.scalar(current)
    if content is None:
        message = f"There is no workflow with the id {config.workflow_id}."
        return WorkflowFault(pointer=f"{pointer}/workflow_id", code="workflow_not_found", message=message)
    names = [node.id for node in WorkflowDocument.model_validate(content).nodes]
    if config.node in names:
        return None
    close = nearest_names(str(config.node), names)
    hint = f" Did you mean {', '.join(close)}?" if close else ""
    message = f"That workflow has no node {config.node}.{hint}"
    return WorkflowFault(pointer=f"{pointer}/node", code="unknown_node", message=message, nearest=[*close])
