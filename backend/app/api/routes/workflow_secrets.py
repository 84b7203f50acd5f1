"""Secrets of workflows, by name, and the hosts that their requests may go to."""

from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.resources import ResourcesDep
from app.api.openapi.document import problems
from app.workflows.node_configs import SecretName
from app.workflows.requests.allowed_hosts import MAX_HOSTS, Host
from app.workflows.requests.host_rules import check_pattern
from app.workflows.secrets.store import SecretView, SecretWrite

router = APIRouter(tags=["secrets"], responses=problems(401))

NameInPath = Annotated[SecretName, Path(max_length=100)]


class HostList(BaseModel):
    """Hosts: `api.example.com`, `api.example.com:8443` or `*.example.com`."""

    model_config = ConfigDict(extra="forbid")

    hosts: Annotated[list[Annotated[Host, AfterValidator(check_pattern)]], Field(max_length=MAX_HOSTS)]


class HostsView(HostList):
    """`allowed`: hosts that the operator allows, which bound yours."""

    allowed: list[str]


@router.get("/secrets", operation_id="list_secrets")
async def list_secrets(principal: PrincipalDep, resources: ResourcesDep) -> list[SecretView]:
    """List the names of your secrets. Their values are never shown."""
    return await resources.secrets.list_secrets(principal.user_id)


@router.get("/secrets/{name}", operation_id="get_secret", responses=problems(404))
async def get_secret(name: NameInPath, principal: PrincipalDep, resources: ResourcesDep) -> SecretView:
    """Tell when a secret was written. Its value is never shown."""
    return await resources.secrets.get(principal.user_id, name)


@router.put("/secrets/{name}", operation_id="put_secret")
async def put_secret(
    name: NameInPath, body: SecretWrite, principal: PrincipalDep, resources: ResourcesDep
) -> SecretView:
    """Write a secret: a token, or the address that messages go to."""
    return await resources.secrets.put(principal.user_id, name, body.value.get_secret_value())


@router.delete(
    "/secrets/{name}",
    status_code=204,
    operation_id="delete_secret",
    response_class=Response,
    responses=problems(404),
)
async def delete_secret(name: NameInPath, principal: PrincipalDep, resources: ResourcesDep) -> Response:
    """Delete a secret. Workflows that name it fail from then on."""
    await resources.secrets.delete(principal.user_id, name)
    return Response(status_code=204)


@router.get("/request-hosts", operation_id="list_request_hosts")
async def list_request_hosts(principal: PrincipalDep, resources: ResourcesDep) -> HostsView:
    """List the hosts that your workflows may send requests to."""
    hosts = await resources.hosts.list_hosts(principal.user_id)
    return HostsView(hosts=hosts, allowed=list(resources.hosts.operator))


@router.put("/request-hosts", operation_id="replace_request_hosts", responses=problems(403))
async def replace_request_hosts(body: HostList, principal: PrincipalDep, resources: ResourcesDep) -> HostsView:
    """Replace the hosts that your workflows may send requests to, by some of those that the operator allows."""
    hosts = await resources.hosts.replace(principal.user_id, list(dict.fromkeys(body.hosts)))
    return HostsView(hosts=hosts, allowed=list(resources.hosts.operator))
