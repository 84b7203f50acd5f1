"""The lane of a message: data for now, or a lasting change of a workflow."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.resources import ResourcesDep
from app.api.openapi.document import problems
from app.sessions.schemas import MAX_DATASETS
from app.workflows.document import WorkflowDocument
from app.workflows.intent.classification import Intent
from app.workflows.service import WorkflowService

router = APIRouter(tags=["workflows"], responses=problems(401))

Words = Annotated[str, Field(max_length=20_000)]
"""A message of a user: as long as one of a conversation may be."""


class IntentContext(BaseModel):
    """Messages before this one. Unknown fields are ignored."""

    earlier: list[Words] = Field(default_factory=list, max_length=100, description="Newest last.")
    dataset_ids: list[UUID] = Field(
        default_factory=list, max_length=MAX_DATASETS, description="Your datasets that the message may name."
    )


class IntentRequest(BaseModel):
    """A message, and the workflow that it may change: by id, or as it stands."""

    model_config = ConfigDict(extra="forbid")

    message: Annotated[str, Field(min_length=1, max_length=20_000)]
    workflow_id: UUID | None = None
    workflow: WorkflowDocument | None = None
    context: IntentContext = Field(default_factory=IntentContext)


@router.post("/intent", operation_id="classify_intent", responses=problems(404))
async def classify_message(body: IntentRequest, principal: PrincipalDep, resources: ResourcesDep) -> Intent:
    """Say whether a message asks for data now or for a lasting change. Nothing is executed or saved.

    A sentence that names its source, an address or one of `context.dataset_ids`, is read as in a conversation.
    """
    document = body.workflow
    if body.workflow_id is not None:
        document = (await WorkflowService(resources.database, principal.user_id).get(body.workflow_id)).document
    check = resources.check_documents(principal.user_id)
    datasets = await check.read_datasets_by_id(body.context.dataset_ids)
    # In a thread: it imports for a tenth of a second at its first call, and other requests go on meanwhile.
    read_intent = await asyncio.to_thread(_load_reader)
    return await read_intent(body.message, document, datasets, check, body.context.earlier)


def _load_reader() -> Callable[..., Awaitable[Intent]]:
    from app.workflows.conversations.lanes import read_intent  # noqa: PLC0415 - no start waits for its imports

    return read_intent
