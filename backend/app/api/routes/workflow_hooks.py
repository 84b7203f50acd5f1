"""Webhooks of workflows: their secret addresses, and the calls that begin runs."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Header, Path, Request, Response
from pydantic import BaseModel

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.idempotency import IdempotencyKey
from app.api.dependencies.resources import ResourcesDep
from app.api.dependencies.sessions import session_service
from app.api.openapi.document import problems
from app.auth.rate_limits import RateLimiter, RateMeter, make_refusal
from app.sessions.schemas import WORKFLOW_GRAPH
from app.workflows.requests.client import RUN_HEADER
from app.workflows.triggers.webhooks import HookCall, Webhooks

router = APIRouter(tags=["workflows"])

MAX_CALLS = "60/minute"
"""Calls of one webhook: each begins a run, of which a workflow has few at a time."""
NodeIdPath = Annotated[str, Path(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9_-]+$")]
Token = Annotated[str, Path(min_length=20, max_length=100, pattern=r"^[A-Za-z0-9_-]+$")]
Signature = Annotated[
    str | None,
    Header(
        alias="X-Labcrew-Signature", max_length=300, description='`t=<Unix time>,v1=<HMAC-SHA256 of "t.body">`'
    ),
]
CallingRun = Annotated[
    UUID | None, Header(alias=RUN_HEADER, description="The run that calls, sent by this service itself.")
]


class HookToken(BaseModel):
    """The address of a webhook, which is shown once."""

    token: str
    path: str


class HookedRunView(BaseModel):
    id: UUID


async def _webhooks(resources: ResourcesDep) -> Webhooks:
    return Webhooks(resources.database, resources.secrets.read)


WebhooksDep = Annotated[Webhooks, Depends(_webhooks)]


@router.post(
    "/workflows/{workflow_id}/triggers/{node_id}/token",
    status_code=201,
    operation_id="make_webhook_token",
    responses=problems(401, 404),
)
async def make_webhook_token(
    workflow_id: UUID, node_id: NodeIdPath, principal: PrincipalDep, webhooks: WebhooksDep, request: Request
) -> HookToken:
    """Make the secret address of a webhook trigger. A former address of it opens no more."""
    token = await webhooks.make_token(principal.user_id, workflow_id, node_id)
    prefix = request.url.path.partition("/workflows/")[0]
    return HookToken(token=token, path=f"{prefix}/hooks/{token}")


@router.delete(
    "/workflows/{workflow_id}/triggers/{node_id}/token",
    status_code=204,
    operation_id="revoke_webhook_token",
    response_class=Response,
    responses=problems(401, 404),
)
async def revoke_webhook_token(
    workflow_id: UUID, node_id: NodeIdPath, principal: PrincipalDep, webhooks: WebhooksDep
) -> Response:
    """Close the address of a webhook trigger."""
    await webhooks.revoke_token(principal.user_id, workflow_id, node_id)
    return Response(status_code=204)


@router.post(
    "/hooks/{token}",
    status_code=202,
    operation_id="call_webhook",
    responses=problems(401, 404, 409),
    openapi_extra={"security": [], "requestBody": {"content": {"application/json": {"schema": {}}}}},
)
async def call_webhook(
    token: Token,
    request: Request,
    webhooks: WebhooksDep,
    resources: ResourcesDep,
    signature: Signature = None,
    idempotency_key: IdempotencyKey = None,
    run_id: CallingRun = None,
) -> HookedRunView:
    """Begin a run of the workflow behind this address, with the JSON of the call as its payload.

    Calls with the same Idempotency-Key or signature begin one run.
    """
    hook = await webhooks.find(token)
    # By webhook: who calls a secret address is not known.
    meter = RateMeter("hooks", f"{hook.workflow_id}/{hook.node_id}", MAX_CALLS)
    refusal = make_refusal(await RateLimiter(resources.redis).take([meter]))
    if refusal is not None:
        raise refusal
    # The bytes as they came: a signature is of these, and not of what they parse to.
    hooked = await webhooks.read(hook, HookCall(await request.body(), signature, idempotency_key, run_id))
    if hooked.request is None:
        return HookedRunView(id=hooked.session_id)
    sessions = session_service(resources, WORKFLOW_GRAPH)
    created = await sessions.create(hooked.owner, hooked.request, session_id=hooked.session_id)
    return HookedRunView(id=created.id)
