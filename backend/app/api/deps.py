"""What a route may ask for: who is calling, one transaction, a page of a list."""

from collections.abc import AsyncIterator
from typing import Annotated, Generic, TypeVar

from fastapi import Depends, Query
from fastapi.openapi.models import HTTPBearer as HTTPBearerModel
from fastapi.requests import HTTPConnection
from fastapi.security.base import SecurityBase
from pydantic import BaseModel, Field
from starlette.datastructures import Headers

from app.auth.desk import AuthDesk
from app.auth.principal import Credential, Principal, Role
from app.db.unit_of_work import UnitOfWork
from app.errors import Forbidden, Unauthorized
from app.resources import Resources


async def _resources(connection: HTTPConnection) -> Resources:
    resources: Resources = connection.app.state.resources
    return resources


async def _desk(connection: HTTPConnection) -> AuthDesk:
    desk: AuthDesk = connection.app.state.desk
    return desk


ResourcesDep = Annotated[Resources, Depends(_resources)]
DeskDep = Annotated[AuthDesk, Depends(_desk)]


async def _unit_of_work(resources: ResourcesDep) -> AsyncIterator[UnitOfWork]:
    async with resources.open_uow() as uow:
        yield uow


UowDep = Annotated[UnitOfWork, Depends(_unit_of_work, scope="function")]
"""Committed when the route function returns, before the answer leaves."""


async def principal_of(headers: Headers, desk: AuthDesk) -> Principal:
    """Raises Unauthorized."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    credential = headers.get("x-api-key") or (token.strip() if scheme.lower() == "bearer" else "")
    if not credential:
        raise Unauthorized(
            "not_signed_in", "Send `Authorization: Bearer <access token or API key>` or `X-API-Key`."
        )
    return await desk.authenticator.authenticate(credential)


class _Caller(SecurityBase):
    """One dependency instead of FastAPI's own chain of them: every request pays for each."""

    model = HTTPBearerModel(description="An access token of /auth/token, or an API key of /auth/keys.")
    scheme_name = "bearer"

    async def __call__(self, connection: HTTPConnection) -> Principal:
        return await principal_of(connection.headers, connection.app.state.desk)


PrincipalDep = Annotated[Principal, Depends(_Caller())]


async def _signed_in(principal: PrincipalDep) -> Principal:
    """A key must not make or revoke keys: who finds one could otherwise stay for ever."""
    if principal.credential is not Credential.TOKEN:
        raise Forbidden("sign_in_required", "This needs an access token of /auth/token, not an API key.")
    return principal


SignedInDep = Annotated[Principal, Depends(_signed_in)]


async def _admin(principal: PrincipalDep) -> Principal:
    if principal.role is not Role.ADMIN:
        raise Forbidden("admin_required", "Only an admin may do this.")
    return principal


AdminDep = Annotated[Principal, Depends(_admin)]


class Page(BaseModel):
    """Which part of a list."""

    limit: int = Field(default=50, ge=1, le=200)
    offset: int = Field(default=0, ge=0, le=1_000_000)


PageDep = Annotated[Page, Query()]

Item = TypeVar("Item")


class PageOf(BaseModel, Generic[Item]):
    """One part of a list, and how many items there are in all."""

    items: list[Item]
    total: int
    limit: int
    offset: int


def paged(page: Page, items: list[Item], total: int) -> PageOf[Item]:
    return PageOf(items=items, total=total, limit=page.limit, offset=page.offset)
