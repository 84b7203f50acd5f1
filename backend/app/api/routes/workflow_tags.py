"""Tags of workflows, each of which names a version."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Response

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.resources import ResourcesDep
from app.api.openapi.document import problems
from app.workflows.tags import TagMove, TagName, WorkflowTag, WorkflowTags

router = APIRouter(prefix="/workflows/{workflow_id}/tags", tags=["workflows"], responses=problems(401, 404))


async def _tags(resources: ResourcesDep, principal: PrincipalDep) -> WorkflowTags:
    return WorkflowTags(resources.database, principal.user_id)


TagsDep = Annotated[WorkflowTags, Depends(_tags)]


@router.get("", operation_id="list_workflow_tags")
async def list_workflow_tags(workflow_id: UUID, tags: TagsDep) -> list[WorkflowTag]:
    """List the tags of a workflow with their versions. The first, `main`, is the current version."""
    return await tags.list_tags(workflow_id)


@router.put("/{tag}", operation_id="move_workflow_tag", responses=problems(409))
async def move_workflow_tag(workflow_id: UUID, tag: TagName, body: TagMove, tags: TagsDep) -> WorkflowTag:
    """Give a version a tag, or move it there. A version with a tag is kept for good."""
    return await tags.move(workflow_id, tag, body)


@router.delete("/{tag}", status_code=204, operation_id="delete_workflow_tag", response_class=Response)
async def delete_workflow_tag(workflow_id: UUID, tag: TagName, tags: TagsDep) -> Response:
    """Delete a tag. Its version stays."""
    await tags.delete(workflow_id, tag)
    return Response(status_code=204)
